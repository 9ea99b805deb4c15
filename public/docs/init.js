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

// Where the documentation is: here.
delete description.info.contact;

// Swagger UI would read a body as JSON and write it anew, which rounds integers past 2^53.
const showBodiesAsTheyAre = () => ({
  wrapComponents: {
    responseBody:
      (ResponseBody, { React }) =>
      (props) =>
        React.createElement(ResponseBody, { ...props, contentType: 'text/plain' }),
  },
});

// Folded, an operation would not show its extensions.
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
  plugins: [showBodiesAsTheyAre, showStability],
  deepLinking: true,
  displayRequestDuration: true,
  showExtensions: true,
  tryItOutEnabled: true,
  // Swagger's online validator is another origin, too.
  validatorUrl: null,
});
