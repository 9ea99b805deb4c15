/** The 400 that lists the problems of a request, each as `name: problem`. */
import type * as z from 'zod/mini';
import { ApiError } from '../errors.ts';

/** Maximum number of problems in a message. */
export const MAX_PROBLEMS = 20;
/** Maximum length of the name of an unknown field or parameter in a message, with its escapes. */
const MAX_SHOWN_NAME = 64;

export function invalidRequest(problems: string[]): ApiError {
  const shown = problems.slice(0, MAX_PROBLEMS);
  const hidden = problems.length - shown.length;
  if (hidden > 0) shown.push(`and ${hidden} more`);
  return new ApiError('invalid_request', shown.join('; '));
}

/** Parameters of the path or the query, before their validation. */
type RawParameters = Record<string, unknown>;

/** The hook of every `zValidator`. */
export function requireValid({
  data,
  error,
}: {
  data: RawParameters;
  error?: z.core.$ZodError;
}): void {
  if (error) throw invalidPart(error, data);
}

/**
 * The 400 for an invalid path, query or body.
 *
 * @param parameters - those of the path or the query as the request has them, to find repeated ones. A body has no parameters.
 */
export function invalidPart(
  { issues }: z.core.$ZodError,
  parameters: RawParameters = {},
): ApiError {
  const problems = issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((name) => `${shownName(name)}: ${issue.message}`);
    }
    // The name of the field at the top, also for a problem inside it. A problem of the whole body has no path.
    const name = String(issue.path[0] ?? 'body');
    // Hono makes an array of a repeated query parameter.
    const isRepeated = Array.isArray(parameters[name]);
    return `${name}: ${isRepeated ? 'must be given only once' : issue.message}`;
  });
  return invalidRequest(problems);
}

/**
 * How a message shows the name of an unknown field or parameter: in quotes if it is empty, cut if it is long, and with escapes in
 * place of what can make it look like a known name, such as `\ufeffname`.
 */
function shownName(name: string): string {
  if (name === '') return '""';
  const escaped = name.replaceAll(/[^!-~]|\\/g, (codeUnit) => {
    return `\\u${codeUnit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  if (escaped.length <= MAX_SHOWN_NAME) return escaped;
  // Removes an escape that the cut has split.
  return `${escaped.slice(0, MAX_SHOWN_NAME).replace(/\\u?\w{0,3}$/, '')}…`;
}
