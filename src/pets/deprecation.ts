/** The deprecation of getPet: https://www.rfc-editor.org/rfc/rfc9745 and rfc8594. */

/** Release of version 1.0.0, in which getPet was deprecated already. */
const DEPRECATION_DATE = Date.UTC(2026, 10, 20);
/** Nothing turns the operation off on that day: it works until somebody removes it. */
export const SUNSET_DATE = new Date(Date.UTC(2030, 11, 5));

/** Value of the `Deprecation` header. */
export const DEPRECATION = `@${DEPRECATION_DATE / 1000}`;
/** Value of the `Sunset` header. */
export const SUNSET = SUNSET_DATE.toUTCString();
