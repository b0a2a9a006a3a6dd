/** A script, a style, and their hashes in the syntax of a content security policy. */
export interface PageAssets {
  /** JavaScript, minified. */
  readonly script: string;
  /** CSS. */
  readonly style: string;
  /** `sha256-` and the hash of the script in Base64. */
  readonly scriptHash: string;
  /** `sha256-` and the hash of the style in Base64. */
  readonly styleHash: string;
}

/**
 * The page's script and style. They are empty here: the build and the tests replace this module with the output of
 * scripts/page-assets.mjs for the folder `client`.
 */
export const ASSETS: PageAssets = {
  script: "",
  style: "",
  scriptHash: "",
  styleHash: "",
};
