/** The least that a review needs, in UTF-16 units: the verdict, the number of each risk, and what was left out. */
export const SMALLEST_REVIEW = 1500;

/** What fits into a comment of the usual code hosts, in UTF-16 units. */
export const USUAL_REVIEW = 60_000;
