using System.Diagnostics.Metrics;
using Billing.Hosting;
using Billing.Messaging.Requests;
using Billing.Proxy.Limits;
using Billing.Proxy.Security;
using Billing.Proxy.Security.Certificates;
using Billing.Proxy.Security.Tokens;
using Billing.Proxy.Telemetry;
using Microsoft.AspNetCore.Authentication;
using Microsoft.AspNetCore.Authorization;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Hosting;

/// <summary>Registers who may call a proxy, and what each caller may do.</summary>
internal static class SecurityServices
{
    private const string EitherScheme = "TokenOrCertificate";

    private const string Certificates = $"{AuthOptions.Section}:{nameof(AuthOptions.Certificates)}";

    /// <summary>Adds TLS, authentication, the admin addresses and the limits. Has to come after the REST front is
    /// added, since all addresses are checked together.</summary>
    public static void AddSecurity(this WebApplicationBuilder builder)
    {
        var (services, configuration) = (builder.Services, builder.Configuration);
        var urls = configuration[WebHostDefaults.ServerUrlsKey];
        var auth = services.AddSettings<AuthOptions>(
            configuration, AuthOptions.Section, options => options.ValidationErrors());
        var tls = services.AddSettings<TlsOptions>(
            configuration, TlsOptions.Section, options => options.ValidationErrors()
                .Concat(HttpsProblems(configuration, options)).Concat(CertificateProblems(auth, options))
                .Concat(Exposure.ValidationErrors(configuration, KnowsCallers(auth, options))));
        var admin = services.AddSettings<AdminOptions>(
            configuration, AdminOptions.Section, options => options.ValidationErrors(urls));
        services.AddSettings<LimitOptions>(configuration, LimitOptions.Section, options => options.ValidationErrors());
        foreach (var url in admin.Addresses)
        {
            builder.AlsoListen(url);
        }
        services.Insert(0, ServiceDescriptor.Singleton<IStartupFilter, HostNames>());
        services.AddHostFiltering(filter =>
        {
            filter.AllowedHosts = Exposure.Hosts(configuration);
            filter.IncludeFailureMessage = false;
        });
        services.AddRateLimiter(limiter => limiter.AddPolicy<string, AnonymousCalls>(AnonymousCalls.Name));
        services.AddSingleton<TlsServer>().AddSingleton<ClientCertificates>().AddSingleton<CertificateNames>()
            .AddSingleton<IReadyPart>(provider => provider.GetRequiredService<ClientCertificates>());
        services.AddSingleton<SecurityLog>();
        if (tls.IsOn)
        {
            builder.WebHost.UseKestrelHttpsConfiguration();
        }
        if (KnowsCallers(auth, tls))
        {
            AddCallers(services, auth);
        }
        else
        {
            // The endpoints require scopes that are not checked without authentication.
            services.Configure<RouteOptions>(routes => routes.SuppressCheckForUnhandledSecurityMetadata = true);
        }
    }

    /// <summary>Adds the authentication and authorization middleware before the endpoints.</summary>
    /// <exception cref="StartupException">A certificate or a key set cannot be used.</exception>
    public static void UseSecurity(this WebApplication app)
    {
        var tls = app.Services.GetRequiredService<IOptions<TlsOptions>>().Value;
        var auth = app.Services.GetRequiredService<IOptions<AuthOptions>>().Value;
        foreach (var open in Exposure.Open(app.Configuration, KnowsCallers(auth, tls)))
        {
            app.Services.GetRequiredService<SecurityLog>().IsOpen(open);
        }
        if (tls.IsOn)
        {
            var server = app.Services.GetRequiredService<TlsServer>();
            server.Load();
            CertificateMetrics.Report(
                app.Services.GetRequiredService<IMeterFactory>(), server,
                app.Services.GetRequiredService<ClientCertificates>(), app.Services.GetRequiredService<TimeProvider>());
        }
        if (!KnowsCallers(auth, tls))
        {
            return;
        }
        if (tls.KnowsClients)
        {
            app.UseMiddleware<CertificateExpiry>();
        }
        if (auth.TakesTokens)
        {
            var keys = app.Services.GetRequiredService<SigningKeys>();
            KeyMetrics.Report(app.Services.GetRequiredService<IMeterFactory>(), keys);
            keys.Start();
        }
        var admin = app.Services.GetRequiredService<IOptions<AdminOptions>>().Value;
        app.UseMiddleware<ListenerGate>(
            (object)admin.Addresses.Select(url => BindingAddress.Parse(url).Port).ToArray());
        app.UseAuthentication();
        app.UseAuthorization();
        app.Use(ForcedTraces.InvokeAsync);
    }

    private static void AddCallers(IServiceCollection services, AuthOptions auth)
    {
        services.AddSingleton<TokenRules>().AddSingleton<RememberedTokens>().AddSingleton<InvalidTokens>();
        services.AddSingleton<SigningKeys>();
        if (auth.TakesTokens)
        {
            services.AddSingleton<IReadyPart>(provider => provider.GetRequiredService<SigningKeys>());
        }
        services.AddSingleton<IAuthorizationMiddlewareResultHandler, AccessRefusals>();
        // They log each refusal, with which callers could fill the log. SecurityLog has them.
        services.AddLogging(logging => logging
            .AddFilter(typeof(TokenCallers).FullName, LogLevel.None)
            .AddFilter(typeof(CertificateCallers).FullName, LogLevel.None));
        services.AddAuthentication(EitherScheme)
            .AddPolicyScheme(EitherScheme, null, either => either.ForwardDefaultSelector = http =>
                auth.TakesTokens
                && (http.Request.Headers.Authorization.Count > 0 || http.Connection.ClientCertificate is null)
                    ? TokenCallers.SchemeName
                    : CertificateCallers.SchemeName)
            .AddScheme<AuthenticationSchemeOptions, CertificateCallers>(CertificateCallers.SchemeName, null)
            .AddScheme<AuthenticationSchemeOptions, TokenCallers>(TokenCallers.SchemeName, null);
        services.AddAuthorization(authorization =>
        {
            foreach (var scope in Scopes.All)
            {
                authorization.AddPolicy(scope, policy => policy.RequireAssertion(
                    context => context.User.Identity is Caller caller && caller.Has(scope)));
            }
            // An endpoint without a policy requires an authenticated caller.
            authorization.FallbackPolicy = new AuthorizationPolicyBuilder().RequireAuthenticatedUser().Build();
        });
    }

    private static bool KnowsCallers(AuthOptions auth, TlsOptions tls) => auth.TakesTokens || tls.KnowsClients;

    private static IEnumerable<string> CertificateProblems(AuthOptions auth, TlsOptions tls)
    {
        const string File = $"{TlsOptions.Section}:{nameof(TlsOptions.ClientCaFile)}";
        if (auth.Certificates.Count > 0 && !tls.KnowsClients)
        {
            return [$"{Certificates} needs {File}."];
        }
        return auth.Certificates.Count > 0 || !tls.KnowsClients || auth.TakesTokens ? []
            :
            [
                $"{File} lets nobody do anything: {Certificates} has to say what each caller with a certificate may "
                    + $"do, or {AuthOptions.Section}:{nameof(AuthOptions.JwksFile)} or "
                    + $"{nameof(AuthOptions.Authority)} where the keys of tokens are.",
            ];
    }

    private static IEnumerable<string> HttpsProblems(IConfiguration configuration, TlsOptions tls) =>
        tls.IsOn ? [] : Exposure.Addresses(configuration)
            .Where(a => ServiceAddresses.HasTls(a.Url))
            .Select(a => $"{a.Setting}: '{a.Url}' needs {TlsOptions.Section}:{nameof(TlsOptions.CertificateFile)}.");
}
