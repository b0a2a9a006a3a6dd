/** A node on the path that is being followed. */
interface Visit {
  readonly node: string;
  readonly number: number;
  /** The lowest number of an open node that is known to be reachable. */
  lowest: number;
  readonly unvisited: string[];
}

/**
 * Returns the nodes of a graph from which a path leads back to themselves, in time proportional to its edges: Tarjan's
 * strongly connected components, without recursion.
 */
export function onCircles(
  nodes: Iterable<string>,
  next: (node: string) => readonly string[],
): ReadonlySet<string> {
  const numbers = new Map<string, number>();
  /** Visited nodes whose component is not complete, in the order of their numbers. */
  const stack: string[] = [];
  const isOpen = new Set<string>();
  const circles = new Set<string>();
  const path: Visit[] = [];

  const begin = (node: string): void => {
    const number = numbers.size;
    numbers.set(node, number);
    stack.push(node);
    isOpen.add(node);
    path.push({ node, number, lowest: number, unvisited: [...next(node)] });
  };

  const complete = (node: string): void => {
    const component = stack.splice(stack.lastIndexOf(node));
    const isCircle = component.length > 1 || next(node).includes(node);
    for (const member of component) {
      isOpen.delete(member);
      if (isCircle) circles.add(member);
    }
  };

  const step = (visit: Visit): void => {
    const node = visit.unvisited.pop();
    if (node === undefined) {
      path.pop();
      if (visit.lowest === visit.number) complete(visit.node);
      const parent = path.at(-1);
      if (parent !== undefined) parent.lowest = Math.min(parent.lowest, visit.lowest);
    } else if (!numbers.has(node)) begin(node);
    else if (isOpen.has(node)) visit.lowest = Math.min(visit.lowest, numbers.get(node) ?? 0);
  };

  for (const start of nodes) {
    if (!numbers.has(start)) begin(start);
    for (let visit = path.at(-1); visit !== undefined; visit = path.at(-1)) step(visit);
  }
  return circles;
}
