import { zValidator } from '@hono/zod-validator';
import { closestMatch } from 'leven';
import type * as z from 'zod';
import { ApiError } from '../errors.ts';
import { REPEATED } from '../json.ts';

/** A body can hold thousands of unknown fields: to look for the name nearest to each takes time. */
const MAX_SUGGESTIONS = 10;
/** Of the name of an unknown field, so many characters are shown. */
const MAX_SHOWN = 64;

type Target = 'query' | 'param' | 'json';

/**
 * Validates one part of the request with a strict object schema, for `c.req.valid(target)`. The 400
 * names every problem of that part at once, as `name: problem; name: problem`.
 */
export function validate<U extends Target, T extends z.ZodObject>(target: U, schema: T) {
  return zValidator(target, schema, (result, c) => {
    // Hono leaves out a query parameter that has no name.
    const nameless = target === 'query' && /[?&]=/.test(c.req.url);
    if (result.success && !nameless) return;
    const members = new Map<PropertyKey, unknown>(Object.entries(result.data ?? {}));
    const issues = result.success ? [] : result.error.issues;
    const problems = issues.flatMap((issue) => {
      if (issue.code === 'unrecognized_keys') {
        const known = Object.keys(schema.shape);
        return issue.keys.map((name, i) =>
          unknownMember(name, target, i < MAX_SUGGESTIONS ? known : []),
        );
      }
      const [name = 'body'] = issue.path;
      return `${String(name)}: ${isRepeated(members.get(name), target) ? 'must be given only once' : issue.message}`;
    });
    if (nameless) problems.push('query: has a parameter without a name');
    throw new ApiError('invalid_request', problems.join('; '));
  });
}

/** A JSON member given twice is marked; a parameter given twice arrives as an array. */
function isRepeated(value: unknown, target: Target): boolean {
  return target === 'json' ? value === REPEATED : Array.isArray(value);
}

function unknownMember(name: string, target: Target, known: string[]): string {
  const problem = target === 'json' ? 'is not a known field' : 'is not a known parameter';
  // `categoryid`, `category_id` and `stauts` are all near enough.
  const plain = (text: string) => text.toLowerCase().replaceAll(/[_-]/g, '');
  const near = closestMatch(plain(name), known.map(plain), { maxDistance: 2 });
  const suggestion = known.find((candidate) => plain(candidate) === near);
  const start = [...name].slice(0, MAX_SHOWN).join('').toWellFormed();
  const shown = start.length < name.length ? `${start}…` : start;
  return `${shown}: ${problem}${suggestion ? `, did you mean ${suggestion}?` : ''}`;
}
