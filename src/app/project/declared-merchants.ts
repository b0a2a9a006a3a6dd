import type { FileProblem, LocatedProblem } from "../../kernel/problems/problem.ts";
import { duplicateMerchants } from "../../kernel/read/duplicate-merchants.ts";
import { addressSchema } from "../../kernel/schema/address-schema.ts";
import { isProjectFile } from "../../kernel/schema/project-file.ts";
import { fieldsOf, omitUndefined } from "../../kernel/values/values.ts";
import { by } from "../../lib/text.ts";
import type { Addressed, Environment } from "../../model/desired.ts";
import { projectAccess } from "./project-access.ts";
import { type IndexedFile, openIndex, type ProjectIndex } from "./project-index.ts";
import { behindFinder, selectFiles } from "./select-files.ts";

/** A merchant of the files, with what they manage; only errors in its address are looked for. */
export interface DeclaredMerchant extends Addressed {
  readonly manages: ManagedAccess;
}

/** The roles and members that a merchant's files manage. */
export interface ManagedAccess {
  readonly roles: boolean;
  readonly members: boolean;
  /** True if roles that are not listed are removed. */
  readonly removesRoles: boolean;
  readonly replacesRoles: boolean;
}

/** The merchants of some files. */
export interface IndexedMerchants {
  /** Those that can be read, sorted by code. */
  readonly merchants: readonly DeclaredMerchant[];
  /** Files that cannot be read, that declare no merchant, or that declare the merchant of another file. */
  readonly problems: readonly LocatedProblem<FileProblem>[];
  /** Files whose address is not valid. */
  readonly invalid: readonly IndexedFile[];
  /** The texts of all files, by name. */
  readonly texts: ReadonlyMap<string, string>;
}

/** Finds the merchants of the files below the paths, without checking the rest of the files. */
export async function declaredMerchants(paths: readonly string[], cwd: string): Promise<IndexedMerchants> {
  const index = openIndex(cwd);
  const { some } = await selectFiles(paths, { cwd, index });
  return readMerchants(some, [], index, cwd);
}

/** Reads the merchants of files from an index, with the problems of those with these codes; none reports all. */
export async function readMerchants(
  paths: readonly string[],
  codes: readonly string[],
  index: ProjectIndex,
  cwd: string,
): Promise<IndexedMerchants> {
  const accesses = await projectAccess(paths, cwd);
  const isProject = (path: string): boolean =>
    accesses.some(({ placesOf }) => placesOf(path).some((place) => isProjectFile(place.path)));
  const merchantPaths = paths.filter((path) => !isProject(path));
  const filesBehind = await behindFinder(index, accesses, merchantPaths);
  const read = await Promise.all(
    merchantPaths.map(async (path) => {
      const file = await index.file(path);
      const behind = await Promise.all([...(await filesBehind(path))].map(index.file));
      return { ...file, behind, address: addressIn(file) };
    }),
  );
  const files = [...new Map(read.map((file) => [file.path, file])).values()];
  const duplicates = duplicateMerchants(
    files.flatMap(({ file, address }) => (address === null ? [] : [{ file, merchant: address.merchant }])),
  );
  const again = new Set(duplicates.map(({ location }) => location.file));
  const included = new Set(files.flatMap(({ behind }) => behind.map(({ path }) => path)));
  const merchants = files
    .flatMap(
      ({ file, fields, behind, address }): readonly (DeclaredMerchant & { readonly file: string })[] => {
        if (address === null || again.has(file)) return [];
        const sections = [{ fields }, ...behind].map((each) => each.fields ?? {});
        const environment = address.environment ?? sections.map(environmentIn).find((each) => each !== null);
        return [{ ...address, ...(environment && { environment }), manages: managedBy(sections), file }];
      },
    )
    .sort(by(({ merchant }) => merchant));
  const chosen = merchants.filter(({ merchant }) => codes.includes(merchant));
  const isSelected = codes.length > 0 && chosen.length === new Set(codes).size;
  const concerned = new Set(chosen.map(({ file }) => file));
  const isConcerned = (file: string): boolean => !isSelected || concerned.has(file);
  const problems = [...files.flatMap((file) => problemsOf(file, included)), ...duplicates];
  return {
    merchants,
    problems: problems.filter(({ location }) => isConcerned(location.file)),
    invalid: files.filter(
      ({ file, fields, address }) =>
        address === null && fields?.["merchant"] !== undefined && isConcerned(file),
    ),
    texts: new Map(files.map(({ file, text }) => [file, text])),
  };
}

/** Returns the problems of a file's YAML, or the problem that it declares no merchant and no other file includes it. */
function problemsOf(
  { path, file, fields, problems }: IndexedFile,
  included: ReadonlySet<string>,
): readonly LocatedProblem<FileProblem>[] {
  if (fields === null) return problems;
  if (fields["merchant"] !== undefined || included.has(path)) return [];
  return [{ code: "missing-key", key: "merchant", path: [], location: { at: "first-key", file, path: [] } }];
}

/** Returns the merchant and the connection of a file; `null` without a valid merchant. */
function addressIn({ file, fields }: IndexedFile): Addressed | null {
  const { merchant, environment, api } = fields ?? {};
  const { data } = addressSchema.safeParse(omitUndefined({ merchant, environment, api }));
  if (data?.merchant === undefined) return null;
  return omitUndefined({
    merchant: data.merchant,
    environment: data.environment,
    baseUrl: data.api?.base_url,
    keyEnv: data.api?.key_env,
    origin: { file, path: [] },
  });
}

function environmentIn({ environment }: Readonly<Record<string, unknown>>): Environment | null {
  return environment === "live" || environment === "test" ? environment : null;
}

function managedBy(sections: readonly Readonly<Record<string, unknown>>[]): ManagedAccess {
  const sync = sections.map((section) => fieldsOf(section["sync"]));
  const has = (key: string): boolean => sections.some((section) => section[key] !== undefined);
  return {
    roles: has("roles"),
    members: has("members"),
    removesRoles: sync.every(({ roles }) => roles !== "additive"),
    replacesRoles: sync.some((settings) => settings["replace_roles"] === true),
  };
}
