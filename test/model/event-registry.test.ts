import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { EVENTS } from "../../src/model/event-registry.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

test("the reference of events has every event of the registry as it is", async () => {
  const generator = await import(new URL("../../scripts/event-reference.mjs", import.meta.url).href);
  expect(read("docs/events.md")).toBe(generator.eventReference(read("docs/src/events.md"), EVENTS));
});
