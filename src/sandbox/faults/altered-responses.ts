import { problemResponse, type ResponseData } from "../http/response.ts";
import type { Account } from "../state/store.ts";
import { type AdminRequest, type HitRequest, isOwner, pick } from "./concurrent-edits.ts";

type Resource = Readonly<Record<string, unknown>>;

/** Maps the resources of a response: the items of a list, or the body itself. */
function mapResources(response: ResponseData, change: (resource: Resource) => Resource): ResponseData {
  if (response.body === undefined || response.status >= 300) return response;
  const body: Resource = { ...response.body };
  const { items } = body;
  return {
    ...response,
    body: Array.isArray(items)
      ? { ...body, items: items.map((item: Resource) => change(item)) }
      : change(body),
  };
}

/** Adds fields that the contract does not have. */
export function withUnknownFields(response: ResponseData): ResponseData {
  if (response.body === undefined) return response;
  const extra = { x_added_later: { nested: [1, null] }, x_flag: true };
  const extended = mapResources(response, (resource) => ({ ...resource, ...extra }));
  return { ...extended, body: { ...(extended.body ?? response.body), ...extra } };
}

/** Removes fields, such as `name` or `user.name`, from each resource. */
export function omitFields(response: ResponseData, fields: readonly string[]): ResponseData {
  return mapResources(response, (resource) =>
    fields.reduce((rest, field) => without(rest, field.split(".")), resource),
  );
}

function without(resource: Resource, [name = "", ...inner]: readonly string[]): Resource {
  if (!Object.hasOwn(resource, name)) return resource;
  const { [name]: value, ...rest } = resource;
  if (inner.length === 0) return rest;
  return typeof value === "object" && value !== null
    ? { ...resource, [name]: without({ ...value }, inner) }
    : resource;
}

/** 2^53 + 1, which no double can represent. */
const LARGE_NUMBER = "9007199254740993";

/** Adds a number that no double can represent to the metadata of each resource. */
export function withLargeNumbers(response: ResponseData): ResponseData {
  const place = "\u0000large number";
  const { body, ...rest } = mapResources(response, (resource) => ({
    ...resource,
    metadata: { ...Object(resource["metadata"]), large_number: place },
  }));
  if (body === undefined || rest.status >= 300) return response;
  return { ...rest, text: JSON.stringify(body).replaceAll(JSON.stringify(place), LARGE_NUMBER) };
}

/** Ways to fail the retrieval of a predefined role. */
export const PREDEFINED_RESPONSES = ["not-found", "other-id"] as const;

/** Alters the retrieval of a predefined role, as if only members could refer to it. */
export function hidePredefined(
  response: ResponseData,
  how: (typeof PREDEFINED_RESPONSES)[number],
  request: number,
): ResponseData {
  const { id, is_predefined }: Resource = { ...response.body };
  if (is_predefined !== true || typeof id !== "string") return response;
  return how === "not-found"
    ? problemResponse(404, `There is no custom role ${id}.`, request)
    : { ...response, body: { ...response.body, id: `${id}_internal` } };
}

/** Kinds of responses that are not valid HTTP. */
export const NOT_HTTP_RESPONSES = ["garbage", "bad-header", "bad-chunk", "both-lengths"] as const;

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";

/** The bytes that are sent instead of a response. */
export const NOT_HTTP_BYTES: Readonly<Record<(typeof NOT_HTTP_RESPONSES)[number], string>> = {
  garbage: "\u0000\u0001 something else \r\n\r\n",
  "bad-header": `${HEAD}no header\u0000at all\r\n\r\n{}`,
  "bad-chunk": `${HEAD}transfer-encoding: chunked\r\n\r\nZZ\r\n{}\r\n0\r\n\r\n`,
  "both-lengths": `${HEAD}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
};

/** Ways in which a list changes between two of its pages. */
export const SHIFTS = ["remove", "add", "move"] as const;
export type Shift = (typeof SHIFTS)[number];

/** Checks whether a request is for a later page of the unfiltered members, where a shift is noticeable. */
export function isLaterPage(operation: string, query: URLSearchParams): boolean {
  const filtered = [...query.keys()].some((name) => !["offset", "limit", "scroll"].includes(name));
  return operation === "members.list" && !filtered && Number(query.get("offset") ?? 0) > 0;
}

/**
 * Returns the concurrent requests to make between two pages: `remove` deletes a member of an earlier page (the next
 * one is skipped), `add` inserts one in front (the last one is repeated), `move` moves one from a later page to the front
 * (it is skipped, another is repeated, and the count is unchanged). Empty if nothing can move.
 */
export function driftRequests(
  shift: Shift,
  hit: HitRequest,
  account: Account,
  chance: number,
): readonly AdminRequest[] {
  const offset = Number(hit.query.get("offset") ?? 0);
  const members = `/merchants/${hit.merchant}/members`;
  const toFront = (member: string): AdminRequest => ({
    method: "POST",
    path: `${members}/${member}/to-front`,
  });
  switch (shift) {
    case "remove": {
      const earlier = account.memberIds.slice(0, offset).filter((id) => !isOwner(account, id));
      const id = pick(earlier, chance);
      return id === undefined ? [] : [{ method: "DELETE", path: `/v0.1${members}/${id}` }];
    }
    case "add": {
      const email = `shift-${hit.number}@example.com`;
      return [{ method: "POST", path: `/v0.1${members}`, body: { email, roles: [] } }, toFront(email)];
    }
    case "move": {
      const id = pick(account.memberIds.slice(offset), chance);
      return id === undefined ? [] : [toFront(id)];
    }
    default:
      return shift satisfies never;
  }
}
