// Your own linter: every person needs an employee_id. Arguments: files and folders.
import { loadMerchants, renderDiagnostics } from "rolecall";

const { merchants, diagnostics } = await loadMerchants(process.argv.slice(2));
const missing = merchants.flatMap(({ members = [] }) =>
  members.filter(({ metadata, managed }) => !managed && metadata?.employee_id === undefined),
);
process.stdout.write(renderDiagnostics(diagnostics));
for (const { email, origin } of missing) console.log(`${origin.file}: ${email} has no employee_id`);
process.exitCode = missing.length + diagnostics.length > 0 ? 1 : 0;
