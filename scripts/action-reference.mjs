/**
 * Returns the reference of the action as Markdown: a hand-written page, with the inputs and outputs of action.yml in the
 * place of its comment.
 */
export function actionReference(page, { inputs, outputs }) {
  const rows = (entries, columns) =>
    Object.entries(entries).map(
      ([name, entry]) => `| \`${name}\` | ${columns(entry).map(plain).join(" | ")} |`,
    );
  const tables = [
    "## Inputs",
    ["| Input | Default | Description |", "| --- | --- | --- |"]
      .concat(rows(inputs, ({ default: value = "", description }) => [value && `\`${value}\``, description]))
      .join("\n"),
    "`api.key_env` and `password_env` in a file name variables of the step. Set them with `env:`, or passwords with the input `passwords`. Names that begin with `INPUT_`, `GITHUB_`, `ACTIONS_` or `RUNNER_` are not allowed.",
    "## Outputs",
    ["| Output | Description |", "| --- | --- |"]
      .concat(rows(outputs, ({ description }) => [description]))
      .join("\n"),
  ];
  return [
    "<!-- Made by scripts/docs.mjs from docs/src/action.md and action.yml: change those. -->",
    page.replace("<!-- The inputs and outputs. -->", () => tables.join("\n\n")),
  ].join("\n\n");
}

function plain(text) {
  return text.replaceAll("|", "\\|");
}
