// The docs page: Swagger UI over the description, against the page's own origin.

const description = await (await fetch('/v1/openapi.json')).json();

// Another origin than the page's own is blocked by its Content-Security-Policy.
const server = (path) => [{ url: `${location.origin}${path}`, description: 'This store' }];
description.servers = server('/v1');
description.paths['/health'].servers = server('');

const dark = matchMedia('(prefers-color-scheme: dark)');
const followColorScheme = () =>
  document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followColorScheme);
followColorScheme();

window.SwaggerUIBundle({
  spec: description,
  domNode: document.querySelector('#docs'),
  deepLinking: true,
  displayRequestDuration: true,
  showExtensions: true,
  tryItOutEnabled: true,
  // Swagger's online validator is another origin, too.
  validatorUrl: null,
});
