import { expect, test } from "vitest";
import { editorArguments } from "../../../src/cli/io/edit-file.ts";

const PLACE = { file: "/shop/access.yaml", line: 12 };

test.each([
  ["vim", ["+12", "/shop/access.yaml"]],
  ["/usr/bin/nano -w", ["+12", "/shop/access.yaml"]],
  ["emacs -nw", ["+12", "/shop/access.yaml"]],
  ["code --wait", ["--goto", "/shop/access.yaml:12"]],
  ["C:\\tools\\Other.exe", ["/shop/access.yaml"]],
  ["C:\\tools\\code.cmd --wait", ["--goto", "/shop/access.yaml:12"]],
  ["subl -w", ["/shop/access.yaml:12"]],
  ["idea", ["--line", "12", "/shop/access.yaml"]],
  ["my-editor", ["/shop/access.yaml"]],
])("%s opens the file at the line, if it is known how", (command, args) => {
  expect(editorArguments(command, PLACE)).toEqual(args);
});
