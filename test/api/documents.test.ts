import { expect, test } from "vitest";
import { renderDiagnostics, renderPlan } from "../../src/index.ts";

test("an unknown format is refused, and not rendered as nothing", () => {
  expect(() => renderPlan([], { format: "html" as "text" })).toThrow(RangeError);
  expect(() => renderPlan([], { format: "html" as "text" })).toThrow('There is no format "html".');
  expect(() => renderDiagnostics([], "junit" as "text")).toThrow('There is no format "junit".');
});
