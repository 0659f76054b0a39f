using System.Diagnostics;
using System.Net.Sockets;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Billing.Hosting;

/// <summary>Runs a service's host as a program. Errors that the operator can fix are reported as one line
/// on standard error.</summary>
public static class Service
{
    /// <summary>The setting that names a folder with one file per setting, into which an
    /// orchestrator mounts secrets.</summary>
    public const string SecretsFolder = "Billing:SecretsFolder";

    /// <summary>Exit code for invalid settings.</summary>
    public const int BadSettings = 2;

    /// <summary>Exit code for a service that could not start or has failed.</summary>
    public const int Failed = 1;

    /// <summary>Creates a web application with the logging of the services: one line per message, and from the
    /// libraries only messages that an operator acts on. Settings come from appsettings.json, the environment and the
    /// command line; later sources override earlier ones.</summary>
    public static WebApplicationBuilder CreateBuilder(string[] arguments)
    {
        var builder = WebApplication.CreateSlimBuilder(arguments);
        AddSecrets(builder.Configuration);
        SettingsValidation.RefuseUnknownSections(builder.Configuration);
        builder.Logging.ClearProviders();
        builder.Logging.AddSimpleConsole(console =>
        {
            console.SingleLine = true;
            console.TimestampFormat = "yyyy-MM-ddTHH:mm:ss.fffZ ";
            console.UseUtcTimestamp = true;
        });
        builder.Logging.AddFilter("Microsoft", LogLevel.Warning);
        builder.Logging.AddFilter("Grpc", LogLevel.Error);
        builder.Logging.AddFilter("Npgsql", LogLevel.Warning);
        // Marten logs the SQL of every table and function that it creates: 20,000 characters.
        builder.Logging.AddFilter("Marten", LogLevel.Warning);
        builder.Logging.AddFilter("Polly", LogLevel.Error);
        // If this log is enabled, ASP.NET Core creates an activity for every call;
        // with tracing it creates them in any case.
        builder.Logging.AddFilter("Microsoft.AspNetCore.Hosting.Diagnostics", LogLevel.None);
        // RunAsync reports errors at start in one line; the host would log them with a stack trace.
        builder.Logging.AddFilter("Microsoft.Extensions.Hosting.Internal.Host", LogLevel.None);
        builder.Logging.AddConfiguration(builder.Configuration.GetSection("Logging"));
        // The host itself is made first. What is made after it reads settings, long before the host validates them: the
        // first invalid section would be the only one that is reported.
        builder.Services.AddOptions<HostOptions>().Configure<IServiceProvider>((host, services) =>
        {
            services.GetService<IStartupValidator>()?.Validate();
            host.ShutdownTimeout = StopTimes.Stopping;
        });
        builder.Services.AddSingleton<Supervisor>();
        builder.Services.AddSingleton<Readiness>();
        return builder;
    }

    /// <summary>Builds a host and runs it until it is stopped.</summary>
    /// <param name="prepare">Returns a builder with the services.</param>
    /// <param name="map">Maps the endpoints. What it fails with is reported like an error at start, and what it has
    /// created is disposed of.</param>
    /// <returns>The process's exit code: 0, <see cref="Failed"/> or <see cref="BadSettings"/>.</returns>
    public static async Task<int> RunAsync(Func<WebApplicationBuilder> prepare, Action<WebApplication> map)
    {
        var (stopping, urls) = (CancellationToken.None, (string?)null);
        try
        {
            var app = prepare().Build();
            urls = app.Configuration[WebHostDefaults.ServerUrlsKey];
            stopping = app.Lifetime.ApplicationStopping;
            await using (app)
            {
                map(app);
                using var failing = app.Services.GetRequiredService<Supervisor>().Failing.Register(KillIfNotStopped);
                await app.RunAsync();
                return Environment.ExitCode;
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // Stopped before it had started.
            return Environment.ExitCode;
        }
        catch (OptionsValidationException e)
        {
            return await ReportAsync(string.Join(Environment.NewLine, e.Failures), BadSettings);
        }
        catch (AggregateException e) when (e.InnerExceptions.All(inner => inner is OptionsValidationException))
        {
            // Several sections are invalid.
            var failures = e.InnerExceptions.SelectMany(inner => ((OptionsValidationException)inner).Failures);
            return await ReportAsync(string.Join(Environment.NewLine, failures), BadSettings);
        }
        catch (StartupException e)
        {
            return await ReportAsync(e.Message, Failed);
        }
        catch (IOException e) when (e.InnerException is AddressInUseException)
        {
            return await ReportAsync("Urls: " + e.Message, Failed);
        }
        catch (SocketException e)
            when (e.SocketErrorCode is SocketError.AddressNotAvailable or SocketError.AccessDenied)
        {
            return await ReportAsync($"Urls ({urls}): {e.Message}", Failed);
        }
        catch (Exception e) when (e is FormatException or InvalidOperationException && e.Source is { } source
            && source.StartsWith("Microsoft.Extensions.Configuration", StringComparison.Ordinal))
        {
            return await ReportAsync(e.Message, BadSettings);
        }
    }

    private static void AddSecrets(ConfigurationManager configuration)
    {
        if (configuration[SecretsFolder] is not { Length: > 0 } folder)
        {
            return;
        }
        if (!Directory.Exists(folder))
        {
            throw new StartupException($"{SecretsFolder}: there is no folder '{folder}'.");
        }
        configuration.AddKeyPerFile(Path.GetFullPath(folder));
    }

    // The stop may wait for exactly the part that failed. A background thread, so that it does not delay a normal end.
    private static void KillIfNotStopped() => new Thread(() =>
    {
        using var never = new ManualResetEventSlim();
        never.Wait(StopTimes.Failing);
        Console.Error.WriteLine(
            $"The process did not stop within {StopTimes.Failing.TotalSeconds:0} s of a failure and is killed.");
        Process.GetCurrentProcess().Kill();
    })
    { IsBackground = true }.Start();

    private static async Task<int> ReportAsync(string message, int exitCode)
    {
        await Console.Error.WriteLineAsync(message);
        return exitCode;
    }
}
