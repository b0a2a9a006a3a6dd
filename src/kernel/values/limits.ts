/** Maximum length of a file, in UTF-16 units. */
export const MAX_LENGTH = 32 * 1024 * 1024;

/** Maximum number of YAML tokens in a file. */
export const MAX_TOKENS = 8_000_000;

/** Maximum nesting depth of lists and mappings. */
export const MAX_DEPTH = 64;

/** Maximum number of values that aliases add to a file. */
export const MAX_ALIASED = 100_000;

/** Maximum length of a glob over files. */
export const MAX_GLOB = 500;

/** Maximum number of includes of a file. */
export const MAX_INCLUDES = 100;

/** Maximum number of checks in a file. */
export const MAX_CHECKS = 1000;

/** Maximum number of permissions of a role at the service. */
export const MAX_PERMISSIONS = 100;

/** Maximum number of properties in metadata at the service. */
export const MAX_METADATA = 64;

/** Maximum length of an e-mail address at the service, in characters. */
export const MAX_ADDRESS = 256;

/** Maximum depth of the parser's stack, which has several levels for one list. */
export const MAX_NESTING = 1000;

/** Maximum number of syntax errors collected. */
export const MAX_SYNTAX_ERRORS = 1000;
