/** Values in a path or a query, which arrive as text. */
import * as z from 'zod/mini';

/** The schema of a text that `parse` reads. For one that it cannot read, it returns `undefined`. */
export function textOf<Value>(problem: string, parse: (text: string) => Value | undefined) {
  return z.pipe(
    z.string(problem),
    z.transform((text: string, context): Value => {
      const value = parse(text);
      if (value !== undefined) return value;
      // `continue`: checks of other values go on, so that every problem is named.
      context.issues.push({ code: 'custom', message: problem, input: text, continue: true });
      return z.NEVER;
    }),
  );
}
