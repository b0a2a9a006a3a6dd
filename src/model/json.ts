/** Any value that JSON can hold. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** User-defined key-value pairs of a role or a member; at most 64 properties, always replaced as a whole. */
export type Metadata = Readonly<Record<string, JsonValue>>;
