/** The browser of the tests: Debian's Chromium, or the one that CHROMIUM names. */
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** A name for the machine itself, for pages that must not be on `localhost`. */
export const OTHER_HOST = 'store.example';

/** @throws Error if there is no browser. */
export function launchBrowser() {
  if (!existsSync(CHROMIUM))
    throw new Error(`no Chromium at ${CHROMIUM}: set CHROMIUM to its path`);
  const hosts = `--host-resolver-rules=MAP ${OTHER_HOST} 127.0.0.1`;
  const args = ['--disable-gpu', '--disable-quic', hosts];
  return chromium.launch({ executablePath: CHROMIUM, args });
}
