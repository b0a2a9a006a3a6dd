import {
  boolCoreTag,
  EVENT_ID,
  type Event,
  floatCoreTag,
  getScalarValue,
  intCoreTag,
  NOT_RESOLVED,
  nullCoreTag,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
} from "js-yaml";
import { MAX_DEPTH } from "./limits.ts";

/** What the events of a text are read from, one after the other. */
interface Reader {
  readonly text: string;
  readonly events: readonly Event[];
  next: number;
}

/**
 * The plain value that a text of YAML says, without its events becoming anything in between; it throws where the text is
 * not right, and where it has what plain YAML has not: anchors, aliases, tags, several documents.
 */
export function plainValue(text: string): unknown {
  const reader: Reader = { text, events: parseEvents(text, { maxDepth: MAX_DEPTH }), next: 1 };
  const value = readValue(reader);
  // The first event begins the document, the last one ends it.
  if (reader.events[0]?.type !== EVENT_ID.DOCUMENT || reader.next !== reader.events.length - 1)
    throw new NotPlain();
  return value;
}

/** The text is for the thorough reader. */
class NotPlain extends Error {}

function readValue(reader: Reader): unknown {
  const event = reader.events[reader.next];
  reader.next += 1;
  switch (event?.type) {
    case EVENT_ID.SCALAR:
      return scalarValue(reader.text, event);
    case EVENT_ID.SEQUENCE:
      return readSequence(reader);
    case EVENT_ID.MAPPING:
      return readMapping(reader);
    default:
      throw new NotPlain();
  }
}

function readSequence(reader: Reader): readonly unknown[] {
  const list: unknown[] = [];
  while (reader.events[reader.next]?.type !== EVENT_ID.POP) list.push(readValue(reader));
  reader.next += 1;
  return list;
}

function readMapping(reader: Reader): Readonly<Record<string, unknown>> {
  const mapping: Record<string, unknown> = {};
  while (reader.events[reader.next]?.type !== EVENT_ID.POP) {
    const key = readValue(reader);
    const name = String(key);
    // A key that is there twice, and one that an assignment would take for the prototype.
    if (typeof key === "object" || Object.hasOwn(mapping, name) || name === "__proto__") throw new NotPlain();
    mapping[name] = readValue(reader);
  }
  reader.next += 1;
  return mapping;
}

const TAGS = [nullCoreTag, boolCoreTag, intCoreTag, floatCoreTag];

/** How everything begins that is no text. */
const NO_TEXT = /^(?:[-+.\d]|~?$|(?:null|true|false)$)/i;

function scalarValue(text: string, event: ScalarEvent): unknown {
  if (event.tagStart !== -1 || event.anchorStart !== -1) throw new NotPlain();
  const value = getScalarValue(text, event);
  if (event.style !== SCALAR_STYLE.PLAIN || !NO_TEXT.test(value)) return value;
  for (const tag of TAGS) {
    const resolved = tag.resolve(value, false, tag.tagName);
    if (resolved !== NOT_RESOLVED) return resolved;
  }
  return value;
}
