/** How wide help is, where there is room: the same for everyone, so that the build can keep it. */
export const HELP_COLUMNS = 80;
