import { expect, test } from "vitest";
import { changeLocations } from "../../../src/app/show/rule-locations.ts";
import type { Change } from "../../../src/model/plan.ts";
import { desired, leaver, live, liveMember, liveRole, member, planOf, role } from "../../support/build.ts";

const TEXT = `version: 1
merchant: MC1
roles:
  - name: Till
    permissions: [catalog_view]
members:
  - email: Ada@example.com
    roles: [Till]
`;

const WANT = desired({
  roles: [
    {
      ...role("Till", { permissions: ["catalog_view"] }),
      previously: ["Desk"],
      origin: { file: "shop.yaml", path: ["roles", 0] },
    },
  ],
  members: [
    {
      ...member("Ada@example.com", { roles: ["Till"] }),
      origin: { file: "shop.yaml", path: ["members", 0] },
    },
  ],
  leavers: [
    { ...leaver("gone@example.com", "2026-01-01"), origin: { file: "leavers.yaml", path: ["leavers", 0] } },
  ],
});

const IS = live(
  [liveRole("role_1", "Desk"), liveRole("role_2", "Old")],
  [
    liveMember("mem_1", "ada@example.com"),
    liveMember("mem_2", "gone@example.com"),
    liveMember("mem_3", "cy@example.com"),
  ],
);

function linesOf(readText: (file: string) => string | null) {
  const { fileOf, fileLineOf } = changeLocations([WANT], readText);
  const lines = planOf(WANT, IS).changes.map((change: Change) => {
    const place = fileLineOf("MC1", change);
    return `${change.name}: ${place === null ? fileOf("MC1", change) : `${place.file}:${place.line}`}`;
  });
  return lines.sort();
}

test("changes are at the lines of their entries, and unlisted ones where they would be listed", () => {
  expect(
    linesOf((file) => (file === "shop.yaml" ? TEXT : "leavers:\n  - { email: gone@example.com }\n")),
  ).toEqual([
    "Ada@example.com: shop.yaml:7",
    "Old: shop.yaml:4",
    "Till: shop.yaml:4",
    "cy@example.com: shop.yaml:7",
    "gone@example.com: leavers.yaml:2",
  ]);
});

test("without a file there is a name, and no line", () => {
  expect(linesOf(() => null)).toContain("Ada@example.com: shop.yaml");
  expect(changeLocations([], () => TEXT).fileOf("MC1", planOf(WANT, IS).changes[0] as Change)).toBeNull();
});
