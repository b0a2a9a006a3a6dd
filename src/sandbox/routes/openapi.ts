import { z } from "zod";
import { CONTRACT_OPERATIONS, oauthScope } from "./authorize.ts";
import type { ContractOperation } from "./operation.ts";
import {
  memberListResponse,
  memberResponse,
  membershipListResponse,
  roleListResponse,
  roleResponse,
} from "./resources.ts";

const SCHEMAS = {
  Role: roleResponse,
  RoleList: roleListResponse,
  Member: memberResponse,
  MemberList: memberListResponse,
  MembershipList: membershipListResponse,
  Problem: z.object({
    type: z.url(),
    title: z.string().optional(),
    status: z.int().optional(),
    detail: z.string().optional(),
    instance: z.url().nullable().optional(),
  }),
} as const satisfies Readonly<Record<string, z.ZodType>>;

/** Describes the operations of the contract in OpenAPI 3.1, made from the schemas that check requests. */
export function openApi(): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of CONTRACT_OPERATIONS) {
    const path = operation.path.replaceAll(/:(\w+)/g, (_, name: string) => `{${PATH_NAMES[name] ?? name}}`);
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(operation) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Members, roles and memberships", version: "0.1" },
    security: [{ key: [] }],
    paths,
    components: {
      securitySchemes: { key: { type: "http", scheme: "bearer" } },
      schemas: Object.fromEntries(
        Object.entries(SCHEMAS).map(([name, schema]) => [name, jsonSchema(schema, "input")]),
      ),
    },
  };
}

/** Names of the contract for the parts of a path. */
const PATH_NAMES: Readonly<Record<string, string>> = { merchant: "merchant_code", id: "id" };

function describe(operation: ContractOperation): object {
  const { name, summary, method, path, permissions, query, body, response } = operation;
  const scope = oauthScope(operation);
  const sufficient = [...permissions, ...(scope === undefined ? [] : [scope])];
  return {
    operationId: name,
    summary,
    description: `Needs ${sufficient.map((scope) => `\`${scope}\``).join(" or ")}.`,
    parameters: [
      ...Array.from(path.matchAll(/:(\w+)/g), ([, part = ""]) => ({
        name: PATH_NAMES[part] ?? part,
        in: "path",
        required: true,
        schema: { type: "string" },
      })),
      ...Object.entries(query.shape).map(([parameter, schema]) => ({
        name: parameter,
        in: "query",
        schema: jsonSchema(schema, "output"),
      })),
    ],
    ...(body && { requestBody: { required: true, content: json(jsonSchema(body, "input")) } }),
    responses: {
      [method === "POST" ? "201" : "200"]: {
        description: "Success",
        ...(response && { content: json(reference(response)) }),
      },
      default: {
        description: "A Problem (RFC 9457)",
        content: { "application/problem+json": { schema: reference(SCHEMAS.Problem) } },
      },
    },
  };
}

function json(schema: object): object {
  return { "application/json": { schema } };
}

function reference(schema: z.ZodType): object {
  const name = Object.entries(SCHEMAS).find(([, candidate]) => candidate === schema)?.[0];
  return name === undefined ? jsonSchema(schema, "input") : { $ref: `#/components/schemas/${name}` };
}

function jsonSchema(schema: z.ZodType, io: "input" | "output"): object {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return rest;
}
