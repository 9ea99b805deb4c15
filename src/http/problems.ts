/** The 400 that lists the problems of a request. */
import { ApiError } from '../errors.ts';

/** Maximum number of problems in a message. */
export const MAX_PROBLEMS = 20;
/** Maximum length of the name of an unknown field or parameter in a message, in UTF-16 code units. */
const MAX_SHOWN_NAME = 64;

export function invalidRequest(problems: string[]): ApiError {
  const shown = problems.slice(0, MAX_PROBLEMS);
  const hidden = problems.length - shown.length;
  if (hidden > 0) shown.push(`and ${hidden} more`);
  return new ApiError('invalid_request', shown.join('; '));
}

/** The name of an unknown field or parameter, in quotes if it is empty. */
export function shortened(name: string): string {
  if (name === '') return '""';
  // The cut can split a surrogate pair.
  const beginning = name.slice(0, MAX_SHOWN_NAME).toWellFormed();
  return name.length > MAX_SHOWN_NAME ? `${beginning}…` : beginning;
}
