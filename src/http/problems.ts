/** The 400 that lists the problems of a request, each as `name: problem`. */
import type * as z from 'zod/mini';
import { ApiError } from '../errors.ts';

export const MAX_PROBLEMS = 20;
/** In characters, with its escapes. */
const MAX_SHOWN_NAME = 64;

export function invalidRequest(problems: string[]): ApiError {
  const shown = problems.slice(0, MAX_PROBLEMS);
  const hidden = problems.length - shown.length;
  if (hidden > 0) shown.push(`and ${hidden} more`);
  return new ApiError('invalid_request', shown.join('; '));
}

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

/** @param parameters - as the request has them, to find repeated ones. A body has none. */
export function invalidPart(
  { issues }: z.core.$ZodError,
  parameters: RawParameters = {},
): ApiError {
  const problems = issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((name) => `${shownName(name)}: ${issue.message}`);
    }
    // A problem of the whole body has no path.
    const name = issue.path.join('.') || 'body';
    // Hono makes an array of a repeated query parameter.
    const isRepeated = Array.isArray(parameters[name]);
    return `${name}: ${isRepeated ? 'must be given only once' : issue.message}`;
  });
  return invalidRequest(problems);
}

/** With escapes in place of invisible characters, such as `\\ufeffname`. */
function shownName(name: string): string {
  if (name === '') return '""';
  const escaped = name.replaceAll(/[^!-~]|\\/g, (codeUnit) => {
    return `\\u${codeUnit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  if (escaped.length <= MAX_SHOWN_NAME) return escaped;
  // Without an escape that the cut has split.
  return `${escaped.slice(0, MAX_SHOWN_NAME).replace(/\\u?\w{0,3}$/, '')}…`;
}
