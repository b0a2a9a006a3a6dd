import type { FileProblem } from "../problems/problem.ts";
import type { MessageTable } from "./message-phrases.ts";
import { SHAPE_MESSAGES } from "./shape-messages.ts";
import { YAML_MESSAGES } from "./yaml-messages.ts";

/** Messages for the problems of one file by itself. */
export const FILE_MESSAGES: MessageTable<FileProblem["code"]> = { ...YAML_MESSAGES, ...SHAPE_MESSAGES };
