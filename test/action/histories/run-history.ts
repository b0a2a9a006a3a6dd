import { readFileSync } from "node:fs";
import type { runAction } from "../../../src/action/run-action.ts";
import type { GitError } from "../../../src/store/git-refs.ts";
import { type MemoryGit, memoryGit } from "../support/memory-git.ts";
import { openStory, type Run, type Story } from "../support/story.ts";
import {
  type AccessFiles,
  declarationOf,
  declaredAt,
  isValid,
  MERCHANTS,
  type Merchant,
  memberFact,
  mergeFiles,
  PEOPLE,
  START,
  textsOf,
} from "./access-files.ts";
import { acceptInvitations, editDashboard, readLive, SEED } from "./dashboard.ts";
import {
  areDatesSeen,
  differences,
  droppedDates,
  forgottenChanges,
  isOwed,
  type Live,
  type Sight,
  type Situation,
  unseenChanges,
  unseenDates,
} from "./history-oracle.ts";
import {
  editedFiles,
  type Mishap,
  type PlacedEdit,
  type PullStep,
  type ReviewStep,
  type Step,
} from "./history-steps.ts";

const DAY = 86_400_000;
const HOUR = 3_600_000;

interface Review {
  readonly by: string;
  readonly state: string;
  readonly mayPush: boolean;
  readonly at: number;
  readonly commit: string;
  isDismissed: boolean;
}

/** A pull request of a history. */
interface Pull {
  readonly number: number;
  readonly isFork: boolean;
  /** The files of main that its branch began with, or was updated with. */
  base: AccessFiles;
  head: AccessFiles;
  readonly sights: (Sight & { readonly commit: string })[];
  readonly reviews: Review[];
}

interface MergedPull {
  readonly before: AccessFiles;
  readonly after: AccessFiles;
}

const UNSEEN_DATE = /(MC\d): not approved: (?:on|after) [\d-]+, (\S+) [^\n]*, which no review shows/g;

const failedFor = (reason: string): string => `failed for the reason ${reason}`;

/** What is broken where the action has crashed. */
export const FAILED_BY_BUG = failedFor("bug");

/** What takes the place of the action of the sources. */
export interface TestedAction {
  readonly runAction: typeof runAction;
  readonly GitError: typeof GitError;
}

/** Runs a history of the whole action; returns what broke the promise that what was reviewed is made, and nothing else. */
export async function brokenByAction(
  steps: readonly Step[],
  { runAction: action, GitError }: Partial<TestedAction> = {},
): Promise<readonly string[]> {
  const memory = memoryGit(GitError);
  const story = await openStory(
    JSON.stringify(SEED),
    { ...textsOf(START), "README.md": "Access.\n" },
    { memory, ...(action && { action }) },
  );
  try {
    return await new History(story, memory).run(steps);
  } finally {
    await story.stop();
  }
}

class History {
  readonly #story: Story;
  readonly #memory: MemoryGit;
  readonly #broken: string[] = [];
  #main: AccessFiles = START;
  /** The files of each commit of main, the oldest first. */
  readonly #commits = new Map<string, AccessFiles>();
  readonly #open: Pull[] = [];
  readonly #merges: MergedPull[] = [];
  /** What the reviewers of merged pull requests saw, in the order of the merges. */
  #sights: readonly Sight[] = [];
  /** Those that no apply for the tip has accounted for. */
  #unaccounted: readonly Sight[] = [];
  /** What the files declared when an apply looked at a merchant last, and when that was. */
  readonly #looked = new Map<Merchant, { readonly declaration: string; readonly at: number }>();
  /** What the files declared, and what was merged, when an apply failed at a merchant: later ones only refer to its report. */
  readonly #failed = new Map<Merchant, { readonly declaration: string; readonly sights: readonly Sight[] }>();
  #lastApply: Run | null = null;
  /** The commit of the changes that wait for approval, and what their page gives up. */
  #waiting: { readonly sha: string; readonly givenUp: ReadonlyMap<Merchant, ReadonlySet<string>> } | null =
    null;
  /** The dropped dates that a run has reported. */
  readonly #toldDates = new Set<string>();
  /** Of the last run. */
  #log = "";

  constructor(story: Story, memory: MemoryGit) {
    this.#story = story;
    this.#memory = memory;
  }

  async run(steps: readonly Step[]): Promise<readonly string[]> {
    this.#commits.set(this.#tip(), START);
    await this.#apply("tip");
    for (const step of steps) {
      await this.#step(step);
      if (this.#broken.length > 0) return [...this.#broken, this.#log];
    }
    await this.#reviewAll();
    return this.#broken.length > 0 ? [...this.#broken, this.#log] : [];
  }

  #now(): number {
    return this.#story.clock.now();
  }

  #tip(): string {
    return this.#story.github.branches.get("main") ?? "";
  }

  async #step(step: Step): Promise<void> {
    switch (step.step) {
      case "open":
        await this.#openPull(editedFiles(this.#main, step.edits, this.#now()), step.isFork);
        break;
      case "revert":
        await this.#revert();
        break;
      case "direct":
        await this.#pushToMain(step.edits);
        break;
      case "queue":
        await this.#queue(step.pulls);
        break;
      case "wait":
        this.#story.clock.advance(step.days * DAY);
        break;
      case "bustle":
        for (let index = 0; index < 101; index++) {
          await this.#story.pushToMain({ "notes.txt": `Note ${index}` });
          this.#commits.set(this.#tip(), this.#main);
        }
        break;
      case "apply":
        await this.#apply(step.of, step.mishap);
        break;
      case "due":
        await this.#due();
        break;
      case "approve":
        await this.#approve();
        break;
      default:
        if ("merchant" in step) {
          await editDashboard(this.#story, step);
        } else {
          const pull = this.#open.at(step.pull);
          if (pull !== undefined) await this.#pullStep(step, pull);
        }
    }
  }

  async #pullStep(step: PullStep, pull: Pull): Promise<void> {
    const story = this.#story;
    switch (step.step) {
      case "push": {
        const head = editedFiles(pull.head, step.edits, this.#now());
        if (!isValid(head)) break;
        await story.push(pull.number, changedTexts(pull.head, head));
        pull.head = head;
        break;
      }
      case "update":
        await this.#update(pull);
        break;
      case "plan":
        await this.#plan(pull, false);
        break;
      case "review":
        await this.#review(pull, step.review);
        if (step.runs) await this.#plan(pull, true);
        break;
      case "dismiss":
        await story.dismiss(pull.number, step.by);
        for (const review of pull.reviews) if (review.by === step.by) review.isDismissed = true;
        break;
      case "merge":
        if (step.needsStatus && this.#planStatus(this.#head(pull)) !== "success") break;
        await this.#merge(pull, step.method);
        break;
      default:
        step satisfies never;
    }
  }

  async #merge(pull: Pull, method: "squash" | "merge" | "rebase"): Promise<void> {
    const merged = mergeFiles(pull.base, this.#main, pull.head);
    if (merged.hasConflict || !isValid(merged.files)) return;
    await this.#story.merge(pull.number, method);
    this.#merged([pull], [merged.files]);
  }

  async #review(pull: Pull, { by, state }: ReviewStep): Promise<void> {
    const mayPush = by !== "reader";
    await this.#story.review(pull.number, state, by, mayPush);
    const [at, commit] = [this.#now(), this.#head(pull)];
    pull.reviews.push({ by, state, mayPush, at, commit, isDismissed: false });
  }

  /** Opens a pull request that takes the last merge back. */
  async #revert(): Promise<void> {
    const last = this.#merges.at(-1);
    if (last === undefined) return;
    const { files, hasConflict } = mergeFiles(last.after, this.#main, last.before);
    if (!hasConflict) await this.#openPull(files, false);
  }

  async #pushToMain(edits: readonly PlacedEdit[]): Promise<void> {
    const files = editedFiles(this.#main, edits, this.#now());
    if (!isValid(files)) return;
    await this.#story.pushToMain(changedTexts(this.#main, files));
    this.#main = files;
    this.#commits.set(this.#tip(), files);
  }

  #head(pull: Pull): string {
    return this.#story.github.pulls.find(({ number }) => number === pull.number)?.head ?? "";
  }

  #planStatus(commit: string): string | undefined {
    return this.#story.github.statuses.findLast(
      ({ sha, context }) => sha === commit && context === "rolecall plan",
    )?.state;
  }

  async #openPull(head: AccessFiles, isFork: boolean): Promise<Pull | null> {
    if (!isValid(head)) return null;
    const number = await this.#story.openPull(changedTexts(this.#main, head), { fork: isFork });
    const pull: Pull = { number, isFork, base: this.#main, head, sights: [], reviews: [] };
    this.#open.push(pull);
    return pull;
  }

  /** Merges main into the branch, which wins where both changed a line. */
  async #update(pull: Pull): Promise<void> {
    const { files } = mergeFiles(pull.base, this.#main, pull.head);
    if (!isValid(files)) return;
    const head = await this.#story.updateBranch(pull.number);
    const texts = this.#story.files(head);
    const changes = Object.entries(textsOf(files)).filter(([path, text]) => !isSameText(texts[path], text));
    if (changes.length > 0) await this.#story.push(pull.number, Object.fromEntries(changes));
    pull.base = this.#main;
    pull.head = files;
  }

  async #plan(pull: Pull, isReview: boolean): Promise<void> {
    const merged = mergeFiles(pull.base, this.#main, pull.head);
    // There is no trial merge, and so no run.
    if (merged.hasConflict || !isValid(merged.files)) return;
    const before = await readLive(this.#story);
    const run = await this.#story.plan(
      pull.number,
      {},
      isReview ? { event: this.#story.reviewEvent(pull.number) } : {},
    );
    this.#expectSound(run);
    const now = this.#now();
    // Without the secret, a run for a fork can trust no record.
    if (pull.isFork) return;
    this.#expectOverdue(run, before, merged.files);
    for (const merchant of plannedIn(run)) {
      pull.sights.push({
        name: `#${pull.number}`,
        commit: this.#head(pull),
        merchant,
        at: now,
        before: before.get(merchant) ?? new Set(),
        base: declaredAt(this.#main, merchant, now),
        after: declaredAt(merged.files, merchant, now),
        files: merged.files,
        baseFiles: this.#main,
      });
    }
  }

  /** What the reviewer whose opinion counts saw: of the last plan before the review, or before a merge that nobody reviewed. */
  #countedSights(pull: Pull): readonly Sight[] {
    const latest = new Map(
      pull.reviews
        .filter(({ state, mayPush }) => state !== "COMMENTED" && mayPush)
        .map((review) => [review.by, review]),
    );
    const approvals = [...latest.values()]
      .filter(({ state, isDismissed }) => state === "APPROVED" && !isDismissed)
      .sort((a, b) => a.at - b.at);
    const before = (time: number, commit: string): readonly Sight[] => {
      const own = pull.sights.filter((sight) => sight.commit === commit && sight.at < time);
      return own.filter(({ at }) => at === own.at(-1)?.at);
    };
    for (const { at, commit } of approvals.toReversed()) {
      const seen = before(at, commit);
      if (seen.length > 0) return seen;
    }
    return approvals.length > 0 ? [] : before(Number.POSITIVE_INFINITY, this.#head(pull));
  }

  /** Takes note of merges, with the files after each. */
  #merged(pulls: readonly Pull[], files: readonly AccessFiles[]): void {
    const history = this.#story.github.git.history(this.#tip());
    for (const [index, pull] of pulls.entries()) {
      const after = files[index] ?? this.#main;
      const sights = this.#countedSights(pull);
      this.#sights = [...this.#sights, ...sights];
      this.#unaccounted = [...this.#unaccounted, ...sights];
      this.#merges.push({ before: this.#main, after });
      this.#main = after;
      this.#commits.set(history[pulls.length - 1 - index] ?? "", after);
      this.#open.splice(this.#open.indexOf(pull), 1);
    }
    this.#commits.set(this.#tip(), this.#main);
    const texts = this.#story.files("main");
    for (const [path, text] of Object.entries(textsOf(this.#main))) {
      if (!isSameText(texts[path], text))
        throw new Error(`the model of ${path} is wrong:\n${texts[path]}\n${text}`);
    }
  }

  async #queue(indexes: readonly number[]): Promise<void> {
    const pulls = [...new Set(indexes.flatMap((index) => this.#open.at(index) ?? []))];
    const files: AccessFiles[] = [];
    for (const pull of pulls) {
      const merged = mergeFiles(pull.base, files.at(-1) ?? this.#main, pull.head);
      if (merged.hasConflict || !isValid(merged.files)) return;
      files.push(merged.files);
    }
    if (pulls.length === 0) return;
    const group = await this.#story.queue(...pulls.map(({ number }) => number));
    const run = await this.#story.planQueued(group);
    this.#expectSound(run);
    if (run.code !== 0) return;
    await this.#story.mergeQueued(group);
    this.#merged(pulls, files);
  }

  async #apply(of: "tip" | "older" | "again", mishap?: Mishap): Promise<void> {
    const tip = this.#tip();
    const older = [...this.#commits.keys()].at(-2);
    const before = await readLive(this.#story);
    const merged = this.#sights;
    await this.#prepare(mishap);
    const run =
      of === "again" && this.#lastApply !== null
        ? await this.#story.rerun(this.#lastApply)
        : await this.#story.apply({}, of === "older" && older !== undefined ? { sha: older } : {});
    await this.#recover();
    const after = await readLive(this.#story);
    if (of !== "again") this.#lastApply = run;
    this.#waiting =
      run.outputs["waiting"] === undefined
        ? null
        : { sha: run.event.sha, givenUp: this.#droppedBy(run, after) };
    this.#expectSound(run, mishap);
    this.#expectStatus(run);
    const files = this.#commits.get(run.event.sha) ?? this.#main;
    this.#expectNothingMore(before, after, files, merged);
    for (const merchant of run.code === 0 || mishap === "unrecorded" ? [] : plannedIn(run)) {
      this.#failed.set(merchant, { declaration: declarationOf(files, merchant), sights: merged });
    }
    if (mishap === "unrecorded" || mishap === "unwritten" || this.#tip() !== tip) return;
    const isTip = run.event.sha === tip;
    // The run of an earlier commit accounts for the merchants that are the same at the tip.
    const looked = plannedIn(run).filter(
      (merchant) => isTip || declarationOf(files, merchant) === declarationOf(this.#main, merchant),
    );
    for (const merchant of isTip ? MERCHANTS : looked) {
      this.#expectNothingLess(merchant, before, after, run);
    }
    if (isTip) this.#expectDates(looked, after, run);
    for (const merchant of looked) {
      this.#looked.set(merchant, { declaration: declarationOf(files, merchant), at: this.#now() });
    }
    this.#unaccounted = isTip ? [] : this.#unaccounted.filter(({ merchant }) => !looked.includes(merchant));
  }

  /** Returns the lost dates of each merchant that a run planned. */
  #droppedBy(run: Run, live: Live): ReadonlyMap<Merchant, ReadonlySet<string>> {
    return new Map(
      plannedIn(run).map((merchant) => {
        const situation = this.#situation(merchant, live, live, this.#main);
        const dropped = droppedDates(situation, Number.NEGATIVE_INFINITY);
        return [merchant, new Set(dropped.map(({ text }) => text))] as const;
      }),
    );
  }

  async #prepare(mishap: Mishap | undefined): Promise<void> {
    if (mishap === undefined) return;
    if (mishap === "unwritten") {
      const fault = { kind: "status", status: 409, operation: "members.create", times: 1 };
      const operations = ["members.create", "members.update", "members.delete", "roles.update"];
      await this.#story.behind("PUT", "/faults", {
        rules: operations.map((operation) => ({ ...fault, operation })),
      });
      return;
    }
    this.#memory.interrupt = async () => {
      switch (mishap) {
        case "apply":
          this.#expectSound(await this.#story.apply());
          break;
        case "due":
          this.#expectSound(await this.#story.due());
          break;
        case "merge": {
          const pull = this.#open.at(-1);
          if (pull !== undefined) await this.#merge(pull, "squash");
          break;
        }
        case "unrecorded":
          await this.#memory.loseConnection();
          break;
        default:
          mishap satisfies never;
      }
    };
  }

  /** Ends what has disturbed a run, and accepts the invitations. */
  async #recover(): Promise<void> {
    this.#memory.interrupt = null;
    await this.#story.behind("DELETE", "/faults");
    await acceptInvitations(this.#story);
  }

  async #due(): Promise<void> {
    const before = await readLive(this.#story);
    const run = await this.#story.due();
    await this.#recover();
    const after = await readLive(this.#story);
    this.#expectSound(run);
    this.#expectNothingMore(before, after, this.#main);
    for (const merchant of MERCHANTS) {
      this.#expectDue(merchant, before, after);
      const looked = this.#looked.get(merchant);
      if (looked === undefined || !plannedIn(run).includes(merchant)) continue;
      this.#looked.set(merchant, { ...looked, at: this.#now() });
    }
  }

  /** Whoever is otherwise as the files say loses and gets what is due. */
  #expectDue(merchant: Merchant, before: Live, after: Live): void {
    const looked = this.#looked.get(merchant);
    if (looked === undefined || looked.declaration !== declarationOf(this.#main, merchant)) return;
    if (this.#unaccounted.some((sight) => sight.merchant === merchant)) return;
    const situation = this.#situation(merchant, before, after, this.#main);
    const wanted = declaredAt(this.#main, merchant, this.#now());
    const owed = { sights: [], since: looked.at };
    if (!differences(situation.before, wanted).every((fact) => isOwed(fact, situation, owed))) return;
    this.#broken.push(
      ...differences(situation.after, wanted).map(({ text }) => `not made when due at ${merchant}: ${text}`),
    );
  }

  /** Lets the run that has left something to approve go on: its reviewer sees what is left by now. */
  async #approve(): Promise<void> {
    if (this.#waiting === null || this.#waiting.sha !== this.#tip()) return;
    const { givenUp } = this.#waiting;
    this.#waiting = null;
    const seen = await readLive(this.#story);
    const now = this.#now();
    await this.#story.approve("unreviewed-access");
    const before = await readLive(this.#story);
    const run = await this.#story.applyApproved("unreviewed-access");
    await this.#recover();
    const after = await readLive(this.#story);
    this.#expectSound(run);
    this.#sights = [
      ...this.#sights,
      ...plannedIn(run).map((merchant): Sight => {
        const live = seen.get(merchant) ?? new Set<string>();
        const declared = declaredAt(this.#main, merchant, now);
        return {
          name: "the approval",
          merchant,
          at: now,
          before: live,
          base: live,
          after: declared,
          files: this.#main,
          baseFiles: this.#main,
          givenUp: givenUp.get(merchant) ?? new Set(),
        };
      }),
    ];
    this.#expectNothingMore(before, after, this.#main);
    for (const merchant of plannedIn(run)) this.#expectNothingLess(merchant, before, after, run);
  }

  /**
   * A pull request that changes every merchant, and is reviewed as it should be, leaves everything as the files say, once
   * an apply has reported what was lost.
   */
  async #reviewAll(): Promise<void> {
    await this.#apply("tip");
    const edits = MERCHANTS.map((place): PlacedEdit => {
      const known = this.#main.get(`${place} role Cashier`);
      const has = known?.kind === "role" && known.permissions.includes("stock_edit");
      return { place, edit: { does: has ? "forbid" : "permit", role: "Cashier", permission: "stock_edit" } };
    });
    const pull = await this.#openPull(editedFiles(this.#main, edits, this.#now()), false);
    if (pull === null) return;
    await this.#plan(pull, false);
    await this.#review(pull, { by: "rita", state: "APPROVED" });
    if (this.#planStatus(this.#head(pull)) !== "success") {
      this.#broken.push("stuck: a pull request for every merchant cannot be planned");
    }
    await this.#story.merge(pull.number);
    this.#merged([pull], [pull.head]);
    await this.#apply("tip");
    if (this.#lastApply?.code !== 0)
      this.#broken.push("stuck: a review of everything does not end in an apply");
    const live = await readLive(this.#story);
    for (const merchant of MERCHANTS) {
      const wanted = declaredAt(this.#main, merchant, this.#now());
      this.#broken.push(
        ...differences(live.get(merchant) ?? new Set(), wanted).map(
          ({ text }) => `stuck at ${merchant}: ${text}`,
        ),
      );
    }
  }

  /** An apply that looks at a merchant tells the reviewed dates that the files have lost. */
  #expectDates(looked: readonly Merchant[], live: Live, run: Run): void {
    const isTold = run.log.includes("its date is no longer in the files");
    let count = 0;
    for (const merchant of looked) {
      const situation = this.#situation(merchant, live, live, this.#main);
      const wanted = declaredAt(this.#main, merchant, this.#now());
      const open = differences(situation.after, wanted).map(({ person }) => person);
      const dropped = droppedDates(situation, this.#looked.get(merchant)?.at ?? 0);
      // With other news of the merchant, a run tells again what was lost before.
      count += droppedDates(situation, Number.NEGATIVE_INFINITY).length;
      for (const { text, person } of dropped) {
        const date = `${merchant}: ${text}`;
        // A refused change of the person tells enough.
        if (!isTold && !open.includes(person) && !this.#toldDates.has(date))
          this.#broken.push(`dropped in silence at ${date}`);
        if (isTold) this.#toldDates.add(date);
      }
    }
    if (isTold && count === 0) this.#broken.push("a date is told as lost, and stands in the files");
    this.#expectUnseenDates(looked, live, run);
  }

  /** It also tells the dates to come that nobody has reviewed. */
  #expectUnseenDates(looked: readonly Merchant[], live: Live, run: Run): void {
    const told = [...run.log.matchAll(UNSEEN_DATE)].map(([, merchant = "", person = ""]) => ({
      merchant,
      person,
    }));
    for (const merchant of looked) {
      const situation = this.#situation(merchant, live, live, this.#main);
      const people = told.flatMap((one) => (one.merchant === merchant ? one.person : []));
      // An earlier run has told them.
      const isQuiet = run.log.includes(`${merchant}: differs from its files, as reported for `);
      for (const { text, person } of isQuiet ? [] : unseenDates(situation)) {
        if (!people.includes(person))
          this.#broken.push(`to come unseen, and not told, at ${merchant}: ${text}`);
      }
      for (const person of people.filter((one) => areDatesSeen(situation, one)))
        this.#broken.push(`told as unseen, though reviewed, at ${merchant}: the dates of ${person}`);
    }
  }

  #situation(merchant: Merchant, before: Live, after: Live, files: AccessFiles): Situation {
    return {
      merchant,
      before: before.get(merchant) ?? new Set(),
      after: after.get(merchant) ?? new Set(),
      files,
      now: this.#now(),
      sights: this.#sights.filter((sight) => sight.merchant === merchant),
    };
  }

  /** A run may follow the reviews of the pull requests that were merged when it began, or those merged meanwhile as well. */
  #expectNothingMore(before: Live, after: Live, files: AccessFiles, atStart = this.#sights): void {
    for (const merchant of MERCHANTS) {
      const situation = this.#situation(merchant, before, after, files);
      const sights = atStart.filter((sight) => sight.merchant === merchant);
      const unseenAtStart = new Set(unseenChanges({ ...situation, sights }));
      this.#broken.push(...unseenChanges(situation).filter((text) => unseenAtStart.has(text)));
    }
  }

  #expectNothingLess(merchant: Merchant, before: Live, after: Live, run: Run): void {
    const situation = this.#situation(merchant, before, after, this.#main);
    const wanted = declaredAt(this.#main, merchant, this.#now());
    const own = this.#unaccounted.filter((sight) => sight.merchant === merchant);
    const looked = this.#looked.get(merchant);
    const isNew = own.length > 0 || looked?.declaration !== declarationOf(this.#main, merchant);
    const left = differences(situation.after, wanted);
    const owed = { sights: own, since: looked?.at ?? 0 };
    if (run.code === 0) {
      const failed = this.#failed.get(merchant);
      const isTold =
        failed?.declaration === declarationOf(this.#main, merchant) &&
        own.every((sight) => failed.sights.includes(sight));
      if (isNew && !isTold)
        this.#broken.push(...left.map(({ text }) => `not as the files at ${merchant}: ${text}`));
      this.#broken.push(...own.flatMap((sight) => forgottenChanges(sight, situation)));
    } else if (
      isNew &&
      differences(situation.before, wanted).every((fact) => isOwed(fact, situation, owed))
    ) {
      this.#broken.push(...left.map(({ text }) => `refused though reviewed at ${merchant}: ${text}`));
    }
  }

  /** Every failure is about approval or rules, and no bug. */
  #expectSound(run: Run, mishap?: Mishap): void {
    this.#log = run.log;
    const reason = run.outputs["failure-reason"] ?? "";
    if ((run.code === 0) !== (reason === ""))
      this.#broken.push(`exit code ${run.code} with the reason "${reason}"`);
    const own = mishap === "unrecorded" ? ["github"] : mishap === "unwritten" ? ["service"] : [];
    if (!["", "not-approved", "refused", "partial", ...own].includes(reason))
      this.#broken.push(failedFor(reason));
  }

  #expectStatus(run: Run): void {
    const status = this.#story.github.statuses.findLast(
      ({ sha, context }) => sha === run.event.sha && context === "rolecall apply",
    );
    const state = run.code === 0 ? "success" : "failure";
    if (status?.state !== state) this.#broken.push(`the status is ${status?.state}, not ${state}`);
  }

  /** Everybody whose access has ended, and is live all the same, is told. */
  #expectOverdue(run: Run, live: Live, files: AccessFiles): void {
    const now = this.#now();
    const isTold = run.log.includes("whose access has ended");
    for (const merchant of MERCHANTS) {
      const looked = this.#looked.get(merchant);
      if (looked === undefined) continue;
      const [then, until] = [looked.at, now - HOUR].map((time) => declaredAt(files, merchant, time));
      const ended = PEOPLE.filter((person) => {
        const text = memberFact(person);
        return then?.has(text) && !until?.has(text) && live.get(merchant)?.has(text);
      });
      if (ended.length > 0 && !isTold) this.#broken.push(`nobody is told of ${ended.join()} at ${merchant}`);
    }
  }
}

/** The merchants that a run has planned. */
function plannedIn({ outputs }: Run): readonly Merchant[] {
  const path = outputs["plan-path"];
  if (path === undefined) return [];
  const { plans } = JSON.parse(readFileSync(path, "utf8")) as {
    readonly plans: readonly { readonly merchant: Merchant }[];
  };
  return plans.map(({ merchant }) => merchant);
}

/** The texts that differ. */
function changedTexts(before: AccessFiles, after: AccessFiles): Readonly<Record<string, string>> {
  const known = textsOf(before);
  return Object.fromEntries(Object.entries(textsOf(after)).filter(([path, text]) => known[path] !== text));
}

function isSameText(one: string | undefined, other: string): boolean {
  return one?.split("\n").sort().join("\n") === other.split("\n").sort().join("\n");
}
