import {
  boolCoreTag,
  EVENT_ID,
  type Event,
  floatCoreTag,
  getScalarValue,
  intCoreTag,
  type MappingEvent,
  NOT_RESOLVED,
  nullCoreTag,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
  type SequenceEvent,
} from "js-yaml";
import { MAX_DEPTH } from "./limits.ts";

/**
 * The plain value of a text of YAML. It throws where the text is not right, and where it holds what plain YAML does
 * not: anchors, aliases, tags, several documents, keys that are no words.
 */
export function plainValue(text: string): unknown {
  const events = parseEvents(text, { maxDepth: MAX_DEPTH });
  // The first event begins the document, the last one ends it.
  const reader: Reader = { text, events, next: 1, words: new Map() };
  const value = readValue(reader, false);
  if (events[0]?.type !== EVENT_ID.DOCUMENT || reader.next !== events.length - 1) throw new NotPlain();
  return value;
}

class NotPlain extends Error {}

interface Reader {
  readonly text: string;
  readonly events: readonly Event[];
  next: number;
  /** Keys and entries of lists, which are the same few again and again: each is made once. */
  readonly words: Map<string, unknown>;
}

// Enough for the keys, and for the names of roles and permissions.
const MOST_WORDS = 1000;

function readValue(reader: Reader, isWord: boolean): unknown {
  const event = reader.events[reader.next];
  reader.next += 1;
  switch (event?.type) {
    case EVENT_ID.SCALAR:
      refuseProperties(event);
      return isWord ? readWord(reader, event) : scalarValue(event, getScalarValue(reader.text, event));
    case EVENT_ID.SEQUENCE:
      refuseProperties(event);
      return readSequence(reader);
    case EVENT_ID.MAPPING:
      refuseProperties(event);
      return readMapping(reader);
    default:
      throw new NotPlain();
  }
}

/** A tag or an anchor. */
function refuseProperties({ tagStart, anchorStart }: ScalarEvent | SequenceEvent | MappingEvent): void {
  if (tagStart !== -1 || anchorStart !== -1) throw new NotPlain();
}

function readSequence(reader: Reader): readonly unknown[] {
  const list: unknown[] = [];
  while (reader.events[reader.next]?.type !== EVENT_ID.POP) list.push(readValue(reader, true));
  reader.next += 1;
  return list;
}

function readMapping(reader: Reader): Readonly<Record<string, unknown>> {
  const mapping: Record<string, unknown> = {};
  while (reader.events[reader.next]?.type !== EVENT_ID.POP) {
    const key = readValue(reader, true);
    const name = String(key);
    // A key that is there twice, and one that an assignment would take for the prototype.
    if (typeof key === "object" || Object.hasOwn(mapping, name) || name === "__proto__") throw new NotPlain();
    mapping[name] = readValue(reader, false);
  }
  reader.next += 1;
  return mapping;
}

function readWord({ text, words }: Reader, event: ScalarEvent): unknown {
  const written = getScalarValue(text, event);
  if (event.style !== SCALAR_STYLE.PLAIN) return written;
  const known = words.get(written);
  if (known !== undefined) return known;
  const value = scalarValue(event, written);
  if (words.size < MOST_WORDS) words.set(written, value);
  return value;
}

const TAGS = [nullCoreTag, boolCoreTag, intCoreTag, floatCoreTag];

/** How everything begins that is no text. */
const NO_TEXT = /^(?:[-+.\d]|~?$|(?:null|true|false)$)/i;

function scalarValue({ style }: ScalarEvent, written: string): unknown {
  if (style !== SCALAR_STYLE.PLAIN || !NO_TEXT.test(written)) return written;
  for (const tag of TAGS) {
    const value = tag.resolve(written, false, tag.tagName);
    if (value !== NOT_RESOLVED) return value;
  }
  return written;
}
