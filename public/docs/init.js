// The docs page: Swagger UI with the description, sending requests to the page's own origin.

const ADDRESS = '/v1/openapi.json';

// Swagger UI fills in the example of a parameter and sends it. The same Idempotency-Key on every request would
// prevent a second animal from being added.
const withoutExample = (_, value) => {
  if (!value?.in || !value.schema) return value;
  const { example, examples, ...parameter } = value;
  return parameter;
};

const description = JSON.parse(await (await fetch(ADDRESS)).text(), withoutExample);

// The page's Content-Security-Policy blocks other origins.
const server = (path) => [{ url: `${location.origin}${path}`, description: 'This store' }];
description.servers = server('/v1');
description.paths['/health'].servers = server('');

const dark = matchMedia('(prefers-color-scheme: dark)');
const followColorScheme = () =>
  document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followColorScheme);
followColorScheme();

// The contact link is this page, so the page links to the description instead.
delete description.info.contact;
description.externalDocs = { url: ADDRESS, description: `OpenAPI description: ${ADDRESS}` };

// Users paste the whole header, or "Bearer" and the key. Swagger UI adds another "Bearer".
const requestInterceptor = (request) => {
  const { Authorization } = request.headers;
  if (Authorization)
    request.headers.Authorization = Authorization.replace(
      /^Bearer\s+(?:Authorization:\s*)?Bearer\s+/i,
      'Bearer ',
    );
  return request;
};

// Swagger UI would parse and format JSON bodies, which rounds integers beyond 2^53.
const showRawBodies = () => ({
  wrapComponents: {
    responseBody:
      (ResponseBody, { React }) =>
      (props) =>
        React.createElement(ResponseBody, { ...props, contentType: 'text/plain' }),
  },
});

// A collapsed operation does not show its extensions.
const showStability = () => ({
  wrapComponents: {
    OperationSummaryPath:
      (OperationSummaryPath, { React }) =>
      (props) => {
        const { path, method } = props.operationProps.toJS();
        const stability = description.paths[path][method]['x-stability'];
        return React.createElement(
          React.Fragment,
          null,
          React.createElement(OperationSummaryPath, props),
          stability && React.createElement('span', { className: 'stability' }, stability),
        );
      },
  },
});

window.SwaggerUIBundle({
  spec: description,
  domNode: document.querySelector('#docs'),
  requestInterceptor,
  plugins: [showRawBodies, showStability],
  deepLinking: true,
  displayRequestDuration: true,
  showExtensions: true,
  tryItOutEnabled: true,
  // Swagger's online validator has another origin.
  validatorUrl: null,
});
