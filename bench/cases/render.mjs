import { loadSource } from "../support/source.mjs";

/** Renders a very large plan in each format; `measure` warms up first. */
export const cases = [
  {
    name: "render",
    run: async ({ runs = "9" }) => {
      const { measure } = await loadSource("bench/cases/render.ts");
      return measure(Number(runs)).map(({ name, values }) => ({
        title: `10,000 changes as ${name}`,
        target: { atMost: 300, unit: "ms" },
        noise: 0.15,
        values,
      }));
    },
  },
];
