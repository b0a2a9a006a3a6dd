import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { Io } from "../../../src/app/io/io.ts";
import { ask, confirmationsFor } from "../../../src/cli/review/confirm-apply.ts";
import type { Environment } from "../../../src/model/desired.ts";
import type { Plan } from "../../../src/model/plan.ts";
import { PLAIN, type Style } from "../../../src/show/style.ts";
import { desired, live, liveMember, liveRole, member, planOf, role } from "../../support/build.ts";
import { testIo } from "../../support/io.ts";

const QUESTION = { lines: ["2 changes at MC1.", "It is not a test account."], answer: "MC1" };

/** Asks on a terminal of 30 columns that has these lines to read. */
async function answered(typed: string, style: Style = PLAIN) {
  const stdin = new PassThrough();
  stdin.end(typed);
  const { io, written } = testIo({ terminal: { stdin } as never });
  return { yes: await ask(QUESTION, { ...style, columns: 30 }, io), text: written.stderr };
}

test.each([
  ["MC1\n", true, ""],
  ["  MC1 \n", true, ""],
  ["mc1\n", false, "Not confirmed.\n"],
  ["\n", false, "Not confirmed.\n"],
  ["", false, "\nCancelled.\n"],
])("%j is answered with %s, below lines that are printed once", async (typed, yes, reply) => {
  expect(await answered(typed)).toEqual({
    yes,
    text: `\n2 changes at MC1.\nIt is not a test account.\nType MC1 to continue; anything\nelse cancels: ${reply}`,
  });
});

test("the question has the colours that its style has", async () => {
  const style = {
    ...PLAIN,
    bold: (text: string) => `<b>${text}</b>`,
    yellow: (text: string) => `<y>${text}</y>`,
  };
  expect((await answered("MC1\n", style)).text).toBe(
    "\n<b>2 changes at MC1.</b>\nIt is not a test account.\nType <y>MC1</y> to continue; anything\nelse cancels: ",
  );
});

test("a signal, and Ctrl-Z and fg, at the question end its line, and ask it again", async () => {
  const stdin = new PassThrough();
  let stop: Parameters<Io["onStopSignal"]>[0] = () => undefined;
  let suspended: Parameters<Io["onSuspend"]>[0] | null = null;
  const { io, written } = testIo({
    terminal: { stdin } as never,
    onStopSignal: (listener) => {
      stop = listener;
      return () => undefined;
    },
    onSuspend: (listener) => {
      suspended = listener;
      return () => undefined;
    },
  });
  const asked = ask({ lines: ["Apply 1 change?"], answer: "yes" }, PLAIN, io);
  const { resume } = suspended as unknown as Parameters<Io["onSuspend"]>[0];
  resume();
  const prompt = "Type yes to continue; anything else cancels: ";
  expect(written.stderr).toBe(`\nApply 1 change?\n${prompt}${prompt}`);
  stop("SIGTERM");
  expect(written.stderr.endsWith(`${prompt}\n`)).toBe(true);
  expect(await asked).toBe(false);
});

/** A plan that invites some members and removes others. */
function planned(merchant: string, created: number, removed: number): Plan {
  const some = (count: number, what: string) =>
    Array.from({ length: count }, (_, at) => `${what}${at}@example.com`);
  return planOf(
    desired({ merchant, members: some(created, "new").map((email) => member(email)) }),
    live(
      [],
      some(removed, "old").map((email) => liveMember(`mem_${email}`, email)),
    ),
  );
}

const asked = (plan: Plan, environment: Environment | null) => ({ plan, environment });

test("removals from an account that is not a test account need its code, and all changes are counted", () => {
  for (const environment of ["live", null] as const) {
    expect(confirmationsFor([asked(planned("MC4F7K2P", 8, 3), environment)])).toEqual([
      {
        lines: [
          "11 changes at MC4F7K2P, 3 of them removals.",
          "Removed: member old0@example.com, member old1@example.com, member old2@example.com.",
          "MC4F7K2P is not a test account.",
        ],
        answer: "MC4F7K2P",
      },
    ]);
  }
});

test("merchants that need no code are summed up beside those that do", () => {
  const questions = confirmationsFor([
    asked(planned("MC1", 1, 1), "live"),
    asked(planned("MC2", 2, 0), "live"),
    asked(planned("MC3", 0, 1), "test"),
    asked(planned("MC4", 0, 1), "live"),
  ]);
  expect(questions).toEqual([
    {
      lines: [
        "2 changes at MC1, 1 of them a removal.",
        "Removed: member old0@example.com.",
        "MC1 is not a test account.",
        "Also: 3 changes at 2 merchants, 1 of them a removal.",
        "Risk: 1 member is removed, at 1 merchant: old0@example.com.",
      ],
      answer: "MC1",
    },
    {
      lines: [
        "1 change at MC4, a removal.",
        "Removed: member old0@example.com.",
        "MC4 is not a test account.",
      ],
      answer: "MC4",
    },
  ]);
});

test("without removals, or on test accounts, one yes is enough for all", () => {
  expect(confirmationsFor([asked(planned("MC1", 2, 0), "live")])).toEqual([
    { lines: ["Apply 2 changes at MC1?"], answer: "yes" },
  ]);
  expect(
    confirmationsFor([asked(planned("MC1", 2, 0), "live"), asked(planned("MC2", 0, 2), "test")]),
  ).toEqual([
    {
      lines: [
        "Apply 4 changes at 2 merchants, 2 of them removals?",
        "Risk: 2 members are removed, at 1 merchant: old0@example.com, old1@example.com.",
      ],
      answer: "yes",
    },
  ]);
});

test("the risks of the plans are repeated at the question, in a line each however many they are", () => {
  const risky = (merchant: string): Plan => {
    const crew = Array.from({ length: 20 }, (_, at) => `p${at}@example.com`);
    return planOf(
      desired({
        merchant,
        roles: [role("Till", { permissions: ["payouts_edit"] })],
        members: [
          ...crew.map((email) => member(email, { roles: ["Till"] })),
          member("boss@example.com", { roles: ["role_admin"] }),
        ],
      }),
      live(
        [liveRole("role_1", "Till"), liveRole("role_admin", "Admin", { predefined: true })],
        crew.map((email, at) => liveMember(`mem_${at}`, email, { roles: ["role_1"] })),
      ),
    );
  };
  expect(confirmationsFor([asked(risky("MC1"), "live")])[0].lines).toEqual([
    "Apply 2 changes at MC1?",
    "Risk: 1 member becomes an administrator: boss@example.com.",
    "Risk: 20 members gain sensitive permissions: payouts_edit.",
  ]);
  const codes = Array.from({ length: 60 }, (_, at) => `MC${at + 1}`);
  expect(confirmationsFor(codes.map((code) => asked(risky(code), "live")))[0].lines).toEqual([
    "Apply 120 changes at 60 merchants?",
    "Risk: 1 member becomes an administrator, at 60 merchants: boss@example.com.",
    "Risk: 20 members gain sensitive permissions, at 60 merchants: payouts_edit.",
  ]);
});

test("who loses permissions is named before the code is typed, and many are counted", () => {
  const is = live(
    [liveRole("role_1", "Till", { permissions: ["refunds_create"] })],
    Array.from({ length: 7 }, (_, at) =>
      liveMember(`mem_${at}`, `m${at}@example.com`, { roles: ["role_1"] }),
    ),
  );
  const kept = member("m0@example.com", { roles: [] });
  const [question] = confirmationsFor([asked(planOf(desired({ members: [kept] }), is), "live")]);
  expect(question.lines).toEqual([
    "7 changes at MC1, 6 of them removals.",
    "Removed: member m1@example.com, member m2@example.com, member m3@example.com, member m4@example.com, member m5@example.com and 1 more.",
    "Lose permissions: m0@example.com, m1@example.com, m2@example.com, m3@example.com, m4@example.com and 2 more.",
    "MC1 is not a test account.",
  ]);
});

test("new passwords are part of the question", () => {
  const plan = planOf(desired({ members: [member("ada@example.com")] }), live());
  const [question] = confirmationsFor([{ plan, environment: "test", passwords: 2 }]);
  expect(question.lines).toEqual(["Apply 1 change and 2 new passwords at MC1?"]);
  const nothing = planOf(desired(), live());
  const [only] = confirmationsFor([{ plan: nothing, environment: "live", passwords: 1 }]);
  expect(only.lines).toEqual(["Apply 1 new password at MC1?"]);
});

test("a run at several live merchants is taken back after one question, answered with its id", () => {
  const all = ["MC1", "MC2", "MC3"].map((code) =>
    asked(planned(code, 1, 1), code === "MC3" ? "test" : "live"),
  );
  const questions = confirmationsFor(all, "RUN");
  expect(questions).toHaveLength(1);
  expect(questions[0].answer).toBe("RUN");
  expect(questions[0].lines[0]).toBe("6 changes at 3 merchants, 3 of them removals.");
  expect(questions[0].lines[1]).toMatch(/^MC1: Removed: /);
  expect(questions[0].lines.at(-1)).toBe("MC1, MC2 are not test accounts.");
  expect(confirmationsFor(all.slice(0, 1), "RUN")[0].answer).toBe("MC1");
});
