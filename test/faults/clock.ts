/**
 * A clock that tests set: timers run ten times as fast, and the time of day stands still or runs ten times as
 * fast as well. The app calls both through the globals at call time.
 */
const FASTER = 10;

const { setTimeout: plainSetTimeout } = globalThis;
const plainNow = Date.now;
let setAt = plainNow();
let now = setAt;
let speed = 0;

globalThis.setTimeout = ((callback: () => void, ms = 0) =>
  plainSetTimeout(callback, ms / FASTER)) as typeof setTimeout;
Date.now = () => now + (plainNow() - setAt) * speed;

/** Sets the time of day to `ahead` milliseconds after the real one, standing still or running. */
export function setClock(ahead: number, runs: boolean): void {
  setAt = plainNow();
  now = setAt + ahead;
  speed = runs ? FASTER : 0;
}
