import { ApiError } from '../errors.ts';
import { parseJson } from '../exact-json.ts';
import { invalidRequest } from './problems.ts';

/** Each object, array, string, number, boolean and null: the reviver runs for each. */
export const MAX_VALUES = 100;

/** @throws ApiError 400 */
export function parseBody(text: string): unknown {
  let values = 0;
  const countValue = () => {
    values += 1;
    if (values > MAX_VALUES) throw invalidRequest([`body: must have at most ${MAX_VALUES} values`]);
  };
  try {
    return parseJson(text, countValue);
  } catch (error) {
    if (error instanceof SyntaxError) throw invalidJson(error.message);
    // The parser's stack has overflowed before all values were counted.
    if (error instanceof RangeError) {
      throw invalidRequest(['body: is nested too deeply or has too many values']);
    }
    throw error;
  }
}

/** @param reason - the parser's. It can quote the body, so it must not be logged. */
export function invalidJson(reason: string): ApiError {
  // The parser may quote half an emoji, which strict parsers of JSON reject.
  return new ApiError('invalid_json', `The body must be valid JSON: ${reason.toWellFormed()}`);
}
