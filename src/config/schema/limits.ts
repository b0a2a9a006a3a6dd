/** The most characters that a file may have. */
export const MAX_LENGTH = 32 * 1024 * 1024;

/** The most words, marks and line ends that YAML may divide a file into. */
export const MAX_TOKENS = 8_000_000;

/** The deepest that lists and mappings may stand in one another. */
export const MAX_DEPTH = 64;

/** The most values that aliases may add to a file. */
export const MAX_ALIASED = 100_000;

/** The most files that one file may include. */
export const MAX_INCLUDES = 100;

/** The most checks that one file may have. */
export const MAX_CHECKS = 1000;

/** The most permissions that one role can have. */
export const MAX_PERMISSIONS = 100;

/** The most properties that metadata can have. */
export const MAX_METADATA = 64;

/** The most characters that an address can have at the service. */
export const MAX_ADDRESS = 256;

/** The most characters that a nickname can have at the service. */
export const MAX_NICKNAME = 64;

/** The most roles that one member can hold at the service. */
export const MAX_ROLES = 124;

/** The deepest that a text may be nested before it is even known what it holds; several levels stand for one list. */
export const MAX_NESTING = 1000;

/** The most mistakes of YAML that are collected. */
export const MAX_SYNTAX_ERRORS = 1000;
