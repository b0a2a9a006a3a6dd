import { append, dateAfter, edit, leaver, TODAY, type YearChange } from "./year.ts";

const BACKEND = "teams/backend.yaml";
const TEAM = ["amara.lindqvist", "bea.adler", "diego.varga"].map((name) => `${name}@contractor.example`);

const joiner = (name: string, days: number): string => `  - email: ${name}@contractor.example
    roles: [Contractor]
    until: ${dateAfter(TODAY, days)}
`;

/** A year of the agency. */
export const AGENCY_YEAR: readonly YearChange[] = [
  {
    title: "Monday: two contractors join a team",
    edits: [append(BACKEND, joiner("new.one", 60) + joiner("new.two", 85))],
    expected: { files: 1, lines: 6, merchants: 10, create: 20, gain: 20 },
  },
  {
    title: "A contractor starts in two weeks, for two months",
    edits: [
      append(
        BACKEND,
        `  - email: new.three@contractor.example
    roles: [Contractor]
    from: ${dateAfter(TODAY, 14)}
    until: ${dateAfter(TODAY, 75)}
`,
      ),
    ],
    expected: { files: 1, lines: 4, merchants: 10 },
  },
  {
    title: "Friday: three contractors of a team leave",
    edits: [append("shared/leavers.yaml", TEAM.map((name) => leaver(name, 0)).join(""))],
    expected: {
      files: 1,
      lines: 3,
      merchants: 20,
      delete: 30,
      lose: 30,
      problems: { "leaver-listed": 3 },
    },
  },
  {
    title: "A contractor will leave in two weeks",
    edits: [
      append(
        "shared/leavers.yaml",
        TEAM.slice(0, 1)
          .map((name) => leaver(name, 14))
          .join(""),
      ),
    ],
    expected: { files: 1, lines: 1, merchants: 20 },
  },
  {
    title: "The access of four contractors ends without an edit",
    edits: [],
    command: "rolecall apply --only due",
    inDays: 22,
    expected: {
      files: 0,
      lines: 0,
      merchants: 20,
      delete: 40,
      lose: 40,
      problems: { "until-past": 4 },
    },
  },
  {
    title: "A contract is extended to 80 days from now",
    edits: [edit(BACKEND, dateAfter(TODAY, 20), dateAfter(TODAY, 80))],
    expected: { files: 1, lines: 1, merchants: 10 },
  },
  {
    title: "A contract is extended to half a year from now, although the limit is 90 days",
    edits: [edit(BACKEND, dateAfter(TODAY, 20), dateAfter(TODAY, 180))],
    inReview: true,
    expected: {
      files: 1,
      lines: 1,
      merchants: 10,
      refused: { "until-limit": 10 },
      problems: { "policy-until-limit": 1 },
    },
  },
  {
    title: "A contractor without an end date",
    edits: [append(BACKEND, "  - email: forever@contractor.example\n    roles: [Contractor]\n")],
    expected: {
      files: 1,
      lines: 2,
      merchants: 10,
      create: 10,
      gain: 10,
      refused: { "require-until": 10 },
      problems: { "policy-require-until": 1 },
    },
  },
  {
    title: "A client no longer needs one of its two teams",
    edits: [edit("access/client-7.yaml", ", ../teams/storefront.yaml", "")],
    expected: { files: 1, lines: 1, merchants: 1, delete: 8, lose: 8 },
  },
];
