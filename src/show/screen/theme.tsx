import { Box, Text } from "ink";
import { createContext, type ReactNode, useContext } from "react";
import { PLAIN, type Style, type Tone } from "../style.ts";
import { shown } from "./second-screen.ts";

/** Provides the colours of the terminal. */
export const Theme = createContext<Style>(PLAIN);

/** A part of a line, with its tones. */
export type Piece = readonly [text: string, ...tones: readonly (Tone | undefined)[]];

/** Text on one line, cut where its box ends; what is unsafe in it is made visible. */
export function Words({ pieces }: { readonly pieces: readonly Piece[] }): ReactNode {
  const theme = useContext(Theme);
  return (
    <Text wrap="truncate">
      {pieces
        .map(([text, ...tones]) =>
          tones.reduce((painted: string, tone) => (tone ? theme[tone](painted) : painted), shown(text)),
        )
        .join("")}
    </Text>
  );
}

/** A line of its own height, also without text. */
export function TextLine({ pieces }: { readonly pieces: readonly Piece[] }): ReactNode {
  return (
    <Box height={1} flexShrink={0}>
      <Words pieces={pieces} />
    </Box>
  );
}
