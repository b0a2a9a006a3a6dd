import { inlineCode } from "../../render/markdown.ts";
import { type ReviewInput, renderReview } from "../../render/plan-markdown.ts";

/** A review with what stands around it. */
export interface ReviewPage {
  readonly marker: string;
  readonly review: ReviewInput;
  /** Lines right below the verdict. */
  readonly about: readonly string[];
  /** Paragraphs at the end. */
  readonly after: readonly string[];
}

/** GitHub takes a summary of 1 MiB for each step. */
const SUMMARY_BYTES = 1_000_000;

/** A page of at most `maxSize` UTF-16 units, whose parts are left out whole where they do not fit. */
export function renderPage({ marker, review, about, after }: ReviewPage, maxSize: number): string {
  const around = [marker, ...about, ...after].join("\n\n").length + 20;
  const text = renderReview(review, maxSize - around);
  const end = text.indexOf("\n\n");
  const [verdict, rest] = [text.slice(0, end), text.slice(end).trim()];
  return [marker, verdict, ...about, rest, ...after].filter((part) => part !== "").join("\n\n");
}

/** The same for a job's summary, which is limited in bytes; without the marker. */
export function renderSummary(page: ReviewPage): string {
  const render = (size: number): string => `${renderPage({ ...page, marker: "" }, size)}\n`;
  const text = render(SUMMARY_BYTES);
  const bytes = Buffer.byteLength(text);
  return bytes <= SUMMARY_BYTES ? text : render(Math.floor((SUMMARY_BYTES * text.length) / bytes) - 1000);
}

/** "Commit 1a2b3c4 · job summary". */
export function aboutCommit(sha: string, runUrl: string, scopeTitle: string): string {
  const scope = scopeTitle === "" ? "" : ` · ${inlineCode(scopeTitle)}`;
  return `Commit ${inlineCode(sha.slice(0, 7))} · [full report in the job summary](${runUrl})${scope}`;
}
