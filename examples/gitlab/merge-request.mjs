// node merge-request.mjs note FILE             writes the note of this merge request, or edits it
// node merge-request.mjs approved-plan FILE    saves the plan of the merge request that this commit was merged from
import { readFileSync, writeFileSync } from "node:fs";

const MARKER = "<!-- rolecall -->";
const { CI_API_V4_URL, CI_PROJECT_ID, CI_MERGE_REQUEST_IID, CI_COMMIT_SHA, CI_JOB_TOKEN, GITLAB_NOTE_TOKEN } =
  process.env;
const project = `${CI_API_V4_URL}/projects/${CI_PROJECT_ID}`;

async function request(path, { method = "GET", token = { "private-token": GITLAB_NOTE_TOKEN }, body } = {}) {
  const response = await fetch(`${project}${path}`, {
    method,
    headers: { ...token, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: GitLab returned ${response.status}`);
  return response;
}

async function note(file) {
  const notes = `/merge_requests/${CI_MERGE_REQUEST_IID}/notes`;
  const body = `${MARKER}\n\n${readFileSync(file, "utf8")}`;
  const me = (
    await (await fetch(`${CI_API_V4_URL}/user`, { headers: { "private-token": GITLAB_NOTE_TOKEN } })).json()
  ).id;
  for (let page = "1"; page; ) {
    const response = await request(`${notes}?per_page=100&page=${page}`);
    const own = (await response.json()).find((one) => one.author.id === me && one.body.startsWith(MARKER));
    if (own) return request(`${notes}/${own.id}`, { method: "PUT", body: { body } });
    page = response.headers.get("x-next-page");
  }
  return request(notes, { method: "POST", body: { body } });
}

async function approvedPlan(file) {
  const requests = await (await request(`/repository/commits/${CI_COMMIT_SHA}/merge_requests`)).json();
  const merged = requests.find(({ state }) => state === "merged");
  if (!merged) throw new Error("No merged merge request contains this commit, so no plan was reviewed.");
  const ref = encodeURIComponent(`refs/merge-requests/${merged.iid}/head`);
  const token = { "job-token": CI_JOB_TOKEN };
  const plan = await request(`/jobs/artifacts/${ref}/raw/plan.json?job=plan`, { token });
  writeFileSync(file, await plan.text());
}

const [command, file] = process.argv.slice(2);
await { note, "approved-plan": approvedPlan }[command](file);
