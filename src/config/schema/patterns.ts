/** What the texts of a file look like, for the schema and for the fast check alike. */

/** Anything but space. */
export const NOT_BLANK = /\S/;

/** Without controls, halves of characters, line breaks, and what turns the direction of the text after it. */
export const ONE_LINE = /^[^\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]*$/u;

/** The name of an environment variable. */
export const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A merchant's code. */
export const MERCHANT = /^[A-Za-z0-9_-]{1,64}$/;

/** A role's id. */
export const ROLE_ID = /^role_[A-Za-z0-9_-]+$/;

/** A member's id. */
export const MEMBER_ID = /^mem_[A-Za-z0-9_-]+$/;

/** A share of what is live. */
export const SHARE = /^(?:100|[1-9]?[0-9])%$/;

/** A period in weeks, days or hours. */
export const PERIOD = /^[1-9][0-9]{0,4}[wdh]$/;

/** A role as a check names it. */
export const ROLE_ENTRY = /^role:\s*\S/;
