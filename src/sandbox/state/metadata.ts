const MAX_PROPERTIES = 64;
const MAX_DEPTH = 32;

function fitsDepth(value: unknown, left: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return left > 0 && Object.values(value).every((inner) => fitsDepth(inner, left - 1));
}

/** Says whether a value may be the metadata of a role or a member: an object of at most 64 properties. */
export function hasMetadataForm(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).length <= MAX_PROPERTIES &&
    // Deeper nesting could be read but not written again: it would break every list that it is in.
    fitsDepth(value, MAX_DEPTH)
  );
}

/** What a value has to be for `hasMetadataForm`, for messages. */
export const METADATA_FORM = `must be an object of at most ${MAX_PROPERTIES} properties, nested at most ${MAX_DEPTH} deep`;
