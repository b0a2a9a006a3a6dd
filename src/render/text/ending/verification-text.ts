import { oneLine } from "../../../lib/escape.ts";
import { counted, grouped } from "../../../lib/text.ts";
import type { Deferred, Plan } from "../../../model/plan.ts";
import type { Style } from "../../style.ts";
import {
  groupByKey,
  type MerchantEnd,
  remainingChanges,
  summaryOf,
  type Verification,
} from "../../view/ending-view.ts";
import { namesText } from "../../view/equal-text.ts";
import { renderFailure } from "../failure-text.ts";
import { cutLines, hangingLines } from "../wrap.ts";

function isVerified(
  end: MerchantEnd,
): end is MerchantEnd & { readonly verification: Verification & { status: "verified" } } {
  return end.verification?.status === "verified";
}

/** Returns the sentence about what remains after a complete apply; empty if nothing was verified. */
export function verifiedText(ends: readonly MerchantEnd[], leftOut: number): string {
  const verified = ends.filter(isVerified).map(({ verification }) => verification);
  if (verified.length === 0) return "";
  const sum = (countOf: (one: (typeof verified)[number]) => number): number =>
    verified.reduce((all, one) => all + countOf(one), 0);
  const exceptions = [
    [sum(({ plan }) => plan.deferred.length), "deferred"],
    [sum(({ plan }) => remainingChanges(plan).notCreated.length), "that cannot be created"],
    [leftOut, "left out (the next plan shows them again)"],
  ] as const;
  const open = exceptions.flatMap(([count, what]) => (count === 0 ? [] : [`${grouped(count)} ${what}`]));
  return ` Verified: no changes remain${open.length === 0 ? "" : ` except ${open.join(" and ")}`}.`;
}

/** Names what a complete apply leaves open: deferred changes, and members who cannot be created. */
export function openLines(ends: readonly MerchantEnd[], style: Style): readonly string[] {
  const several = ends.length > 1;
  const lines = ends.filter(isVerified).flatMap(({ plan: { merchant }, verification: { plan } }) => {
    const at = several ? `${oneLine(merchant)}  ` : "";
    return [
      ...plan.deferred.map((one) => `${at}${deferredText(one)}`),
      ...remainingChanges(plan).notCreated.map(
        (name) => `${at}member ${oneLine(name)}: not created, since the file declares no roles for it`,
      ),
    ];
  });
  return cutLines(lines, style);
}

function deferredText({ change, role, waitsFor }: Deferred): string {
  const who = waitsFor.map(oneLine).join(" or ");
  return `${oneLine(summaryOf(change))}: waits until ${who} has accepted, so that "${oneLine(role)}" keeps enough holders`;
}

/** Says at which merchants the verification found something, or could not be made. */
export function verificationBlocks(
  ends: readonly MerchantEnd[],
  style: Style,
): readonly (readonly string[])[] {
  const verified = ends
    .filter(isVerified)
    .map(({ plan: { merchant }, verification }) => ({ ...verification, merchant }));
  const remain = verified
    .map(({ merchant, plan }) => ({ merchant, lines: remainLines(plan) }))
    .filter(({ lines }) => lines.length > 0);
  const unread = ends.flatMap(({ plan: { merchant }, verification }) =>
    verification?.status === "unverified" ? [{ merchant, why: verification.why }] : [],
  );
  const unrecorded = verified.flatMap(({ merchant, unrecorded: text }) =>
    text === null ? [] : [{ merchant, text }],
  );
  const codes = (group: readonly { readonly merchant: string }[]): string =>
    oneLine(namesText(group.map(({ merchant }) => merchant)));
  return [
    ...groupByKey(remain, ({ lines }) => lines.join("\n")).map((group) => {
      const [{ lines }] = group;
      const errors = lines.filter((line) => line.startsWith(ERROR)).length;
      const counts = [
        ...(lines.length > errors ? [counted(lines.length - errors, "remaining change")] : []),
        ...(errors > 0 ? [counted(errors, "problem")] : []),
      ].join(" and ");
      const text = `verification found ${counts}; somebody else may have changed something in the meantime:`;
      return [
        ...hangingLines(text, style.columns, `${style.red("✗")} ${codes(group)}: `, "  "),
        ...cutLines(lines, style),
      ];
    }),
    ...groupByKey(unread, ({ merchant, why }) =>
      typeof why === "string" ? why : why.message.replaceAll(merchant, ""),
    ).map((group) => {
      const [{ why }] = group;
      const text = typeof why === "string" ? uncapital(oneLine(why)) : "it could not be read again.";
      return [
        ...hangingLines(
          `the changes are done, but not verified: ${text}`,
          style.columns,
          `${style.yellow("?")} ${codes(group)}: `,
          "  ",
        ),
        ...(typeof why === "string" ? [] : renderFailure(why, style, group.length).trimEnd().split("\n")),
      ];
    }),
    ...groupByKey(unrecorded, ({ text }) => text).map((group) =>
      hangingLines(oneLine(group[0].text), style.columns, `${style.yellow("!")} ${codes(group)}: `, "  "),
    ),
  ];
}

const ERROR = "error: ";

function uncapital(text: string): string {
  return `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;
}

function remainLines(plan: Plan): readonly string[] {
  const { left, errors } = remainingChanges(plan);
  return [
    ...left.map((change) => {
      const fields = change.fields.map(({ field }) => field);
      return `${oneLine(summaryOf(change))}${fields.length > 0 ? `: ${fields.join(", ")}` : ""}`;
    }),
    ...errors.map(({ message }) => `${ERROR}${oneLine(message)}`),
  ];
}
