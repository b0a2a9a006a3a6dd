/**
 * The page's script and style as text. They are empty here: the build and the tests put in what
 * scripts/page-assets.mjs makes of the folder `client`.
 */
export const ASSETS: PageAssets = { script: "", style: "", scriptHash: "", styleHash: "" };

/** A script, a style, and their hashes as a content security policy writes them. */
export interface PageAssets {
  readonly script: string;
  readonly style: string;
  readonly scriptHash: string;
  readonly styleHash: string;
}
