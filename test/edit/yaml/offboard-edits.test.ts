import fc from "fast-check";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { offboardFrom } from "../../../src/edit/yaml/offboard-edits.ts";
import { runs } from "../../support/property-runs.ts";

const PEOPLE = ["ada@x.example", "Ben@x.example", "cleo@x.example", "dana@x.example"];

const files = fc.record({
  version: fc.constant(1),
  guards: fc.record({ protect: fc.record({ members: fc.uniqueArray(fc.constantFrom(...PEOPLE)) }) }),
  checks: fc.array(
    fc.oneof(
      fc.record({ can: fc.constant("a"), only: fc.uniqueArray(fc.constantFrom(...PEOPLE, "role:Lead")) }),
      fc.record({ member: fc.constantFrom(...PEOPLE), cannot: fc.constant(["a"]) }),
    ),
  ),
  members: fc.uniqueArray(
    fc.constantFrom(...PEOPLE).map((email) => ({ email, roles: ["Lead"] })),
    {
      selector: ({ email }) => email,
    },
  ),
});

test("of any file, the people are gone and all else stays, comments too", () => {
  fc.assert(
    fc.property(files, fc.subarray(PEOPLE, { minLength: 1 }), (file, leaving) => {
      const text = `# head\n${stringify(file)}# tail\n`;
      const found = offboardFrom(text, new Set(leaving.map((email) => email.toLowerCase())));
      const expected = {
        ...file,
        guards: { protect: { members: file.guards.protect.members.filter((one) => !leaving.includes(one)) } },
        checks: file.checks.flatMap((check): readonly object[] => {
          if ("member" in check) return leaving.includes(check.member) ? [] : [check];
          return [{ ...check, only: check.only.filter((one) => !leaving.includes(one)) }];
        }),
        members: file.members.filter(({ email }) => !leaving.includes(email)),
      };
      if (found === null) {
        expect(expected).toEqual(file);
        return;
      }
      const { edited, members } = found;
      const after = "text" in edited ? edited.text : edited.refused;
      expect(after).toMatch(/^# head\n[\s\S]*# tail\n$/);
      expect(parse(after)).toEqual(expected);
      expect(members.size).toBe(file.members.length - expected.members.length);
    }),
    { numRuns: runs(200) },
  );
});
