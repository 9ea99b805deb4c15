/** Schemas of values in a path or a query, which arrive as text. */
import * as z from 'zod/mini';

/** The schema of a value that `parse` reads from text. An invalid text, for which it returns `undefined`, has `problem`. */
export function textSchema<Value>({
  problem,
  parse,
}: {
  problem: string;
  parse: (text: string) => Value | undefined;
}) {
  return z.pipe(
    z.string(problem),
    z.transform((text: string, context): Value => {
      const value = parse(text);
      if (value !== undefined) return value;
      // `continue`: other checks still run, so that every problem is reported.
      context.issues.push({ code: 'custom', message: problem, input: text, continue: true });
      return z.NEVER;
    }),
  );
}
