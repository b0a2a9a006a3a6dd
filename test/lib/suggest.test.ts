import { expect, test } from "vitest";
import { openSuggester, suggest } from "../../src/lib/suggest.ts";
import { processorTime } from "../support/processor-time.ts";

test("a common prefix or domain does not make two ids or addresses similar", () => {
  const roles = ["role_owner", "role_admin", "role_employee"];
  expect(suggest("role_gone1", roles)).toBeNull();
  expect(suggest("role_amdin", roles)).toBe("role_admin");
  expect(suggest("role_employe", roles)).toBe("role_employee");
  expect(suggest("role_adm", roles)).toBe("role_admin");
  expect(suggest("role_em", roles)).toBeNull();
  const addresses = ["ada@example.com", "priya.raman@example.com"];
  expect(suggest("zed@example.com", addresses)).toBeNull();
  expect(suggest("prya.ramn@example.com", addresses)).toBe("priya.raman@example.com");
  expect(suggest("ada@exmaple.com", addresses)).toBe("ada@example.com");
});

test("the work for thousands of words and candidates is bounded", () => {
  const near = openSuggester(Array.from({ length: 30_000 }, (_, n) => `Shift Lead ${n}`));
  const before = processorTime();
  expect(near("Shift Laed 7")).toBe("Shift Lead 7");
  for (let n = 0; n < 20_000; n += 1) near(`Store ${n}`);
  expect(processorTime() - before).toBeLessThan(5000);
});
