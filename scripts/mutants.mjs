import { createHash } from "node:crypto";
import { parseSync } from "rolldown/utils";

/**
 * Returns every mutant of a source: the range `start` to `end` of its text, and the `replacement` that changes what the
 * program does. Texts that people read stay as they are.
 */
export function mutantsOf(path, text) {
  const mutants = [];
  visit(parseSync(path, text).program, undefined, (node, parent) => {
    for (const [{ start, end }, replacement] of replacements(node, parent, text)) {
      mutants.push({ path, start, end, original: text.slice(start, end), replacement });
    }
  });
  return mutants;
}

/** Sorts mutants in an order that follows from the seed alone. */
export function shuffled(mutants, seed) {
  const key = ({ path, start, replacement }) =>
    createHash("sha256")
      .update(JSON.stringify([seed, path, start, replacement]))
      .digest("hex");
  return mutants
    .map((mutant) => ({ mutant, key: key(mutant) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ mutant }) => mutant);
}

/** Returns a text with one mutant in place of the original. */
export function mutated(text, { start, end, replacement }) {
  return text.slice(0, start) + replacement + text.slice(end);
}

/** Nodes of types that hold an expression; all others exist for the compiler only. */
const TYPED_EXPRESSIONS = new Set(["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression"]);

function visit(node, parent, enter) {
  if (node.type === "ImportDeclaration") return;
  if (node.type.startsWith("TS")) {
    if (TYPED_EXPRESSIONS.has(node.type)) visit(node.expression, node, enter);
    return;
  }
  enter(node, parent);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child?.type === "string") visit(child, node, enter);
    }
  }
}

const OPERATORS = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "%": "*",
  "&&": "||",
  "||": "&&",
};

const METHODS = {
  some: "every",
  every: "some",
  find: "findLast",
  findLast: "find",
  startsWith: "endsWith",
  endsWith: "startsWith",
  min: "max",
  max: "min",
};

/** Methods without which their object is still of the same type. */
const OPTIONAL_METHODS = new Set([
  "filter",
  "slice",
  "sort",
  "toSorted",
  "toReversed",
  "trim",
  "toLowerCase",
]);

/** Returns pairs of a range and its replacement. */
function replacements(node, parent, text) {
  const source = ({ start, end }) => text.slice(start, end);
  switch (node.type) {
    case "IfStatement":
    case "ConditionalExpression":
      return [[node.test, `!(${source(node.test)})`]];
    case "BinaryExpression":
    case "LogicalExpression": {
      const between = { start: node.left.end, end: node.right.start };
      if (node.operator === "??") return [[node, source(node.right)]];
      const operator = OPERATORS[node.operator];
      return operator ? [[between, source(between).replace(node.operator, operator)]] : [];
    }
    case "UnaryExpression":
      return node.operator === "!" ? [[{ start: node.start, end: node.start + 1 }, "!!"]] : [];
    case "Literal":
      return literals(node, parent);
    case "ArrayExpression":
      return node.elements.length > 0 ? [[node, "[]"]] : [];
    case "CallExpression":
      return calls(node);
    case "ExpressionStatement":
      return node.directive ? [] : [[node, ";"]];
    case "ContinueStatement":
    case "BreakStatement":
      return parent.type === "SwitchCase" ? [] : [[node, ";"]];
    default:
      return [];
  }
}

function literals(node, parent) {
  const { value } = node;
  if (parent.key === node && !parent.computed) return [];
  if (typeof value === "boolean") return [[node, `${!value}`]];
  if (typeof value === "number") return [[node, `${value + 1}`]];
  return typeof value === "string" && /^\S+$/.test(value) ? [[node, '""']] : [];
}

function calls({ callee, end }) {
  if (callee.type !== "MemberExpression" || callee.computed) return [];
  const { object, property } = callee;
  if (OPTIONAL_METHODS.has(property.name)) return [[{ start: object.end, end }, ""]];
  return Object.hasOwn(METHODS, property.name) ? [[property, METHODS[property.name]]] : [];
}
