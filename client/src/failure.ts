/** Failures: plain records while a call runs. Its error is built from them at the end. */
import { StoreError, type StoreErrorCode, type StoreErrorDetails } from './error.ts';
import type { Metadata } from './types.ts';

/** Why an attempt failed, or why its call ended. */
export type Failure = StoreErrorDetails & {
  code: StoreErrorCode;
  message: string;
  /** Of the response, if there was one. */
  metadata?: Metadata | undefined;
  /** Whether there was no connection, so that nothing was sent. */
  isUnsent?: boolean;
};

/** What is known of a call, over all its attempts. */
export type CallRecord = StoreErrorDetails & { attempts: number };

export function errorOf({ code, message, ...details }: Failure, call?: CallRecord): StoreError {
  return new StoreError(code, message, { ...details, ...call });
}
