/** The browser of the tests: Debian's Chromium, or the one that CHROMIUM names. */
import { type Browser, chromium } from 'playwright-core';

export const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** A name for the machine itself, for pages that must not be on `localhost`. */
export const OTHER_HOST = 'store.example';

export function launchBrowser(): Promise<Browser> {
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', ...quiet];
  const hosts = `--host-resolver-rules=MAP ${OTHER_HOST} 127.0.0.1`;
  return chromium.launch({ executablePath: CHROMIUM, args: [...args, hosts] });
}
