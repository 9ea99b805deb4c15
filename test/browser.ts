/** The browser of the tests: Debian's Chromium, or the one that CHROMIUM names. */
import { type Browser, chromium } from 'playwright-core';

/** A name for the machine itself, for pages that must not be on `localhost`. */
export const OTHER_HOST = 'store.example';

export function launchBrowser(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', ...quiet];
  const hosts = `--host-resolver-rules=MAP ${OTHER_HOST} 127.0.0.1`;
  return chromium.launch({ executablePath, args: [...args, hosts] });
}
