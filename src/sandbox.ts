/** The sandbox as a library: the whole service in the process of a test. */

export type {
  SandboxKey,
  SandboxMember,
  SandboxMerchant,
  SandboxOrganization,
  SandboxParent,
  SandboxRole,
  SandboxSeed,
  SandboxTimes,
} from "./api/sandbox-seed.ts";
export {
  createTestSandbox as createSandbox,
  type TestSandbox as Sandbox,
  type TestSandboxOptions as SandboxOptions,
} from "./api/test-sandbox.ts";
