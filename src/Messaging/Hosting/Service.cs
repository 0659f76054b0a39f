using System.Diagnostics;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Billing.Messaging.Hosting;

/// <summary>Runs a service's host as a program: what its operator can mend becomes one line on standard error.</summary>
public static class Service
{
    /// <summary>The setting that names a folder of settings, one a file: where an orchestrator puts secrets.</summary>
    public const string SecretsFolder = "Billing:SecretsFolder";

    /// <summary>Exit code for settings that cannot be used.</summary>
    public const int BadSettings = 2;

    /// <summary>Exit code for a service that could not start or go on.</summary>
    public const int Failed = 1;

    /// <summary>How long a process that has failed may take to stop in good order.</summary>
    public static readonly TimeSpan FailingBound = TimeSpan.FromSeconds(10);

    /// <summary>A web application with the house's logging: one line a message, and only what an operator acts on from the
    /// libraries. Settings come from appsettings.json, the environment and the command line, the later winning.</summary>
    public static WebApplicationBuilder CreateBuilder(string[] arguments)
    {
        var builder = WebApplication.CreateSlimBuilder(arguments);
        AddSecrets(builder.Configuration);
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
        // It prints the text of every table and function that it makes: 20,000 characters.
        builder.Logging.AddFilter("Marten", LogLevel.Warning);
        builder.Logging.AddFilter("Polly", LogLevel.Error);
        // Where anyone may read its log, ASP.NET Core makes an activity for every call; where calls are traced, it makes them anyway.
        builder.Logging.AddFilter("Microsoft.AspNetCore.Hosting.Diagnostics", LogLevel.None);
        // What stops a host from starting is reported in one line by RunAsync, not by the host with a stack trace.
        builder.Logging.AddFilter("Microsoft.Extensions.Hosting.Internal.Host", LogLevel.None);
        builder.Logging.AddConfiguration(builder.Configuration.GetSection("Logging"));
        builder.Services.AddSingleton<Supervisor>();
        builder.Services.AddSingleton<Readiness>();
        return builder;
    }

    /// <summary>Builds and runs a host until it is told to stop.</summary>
    /// <returns>The process's exit code: 0, <see cref="Failed"/> or <see cref="BadSettings"/>.</returns>
    public static async Task<int> RunAsync(Func<WebApplication> build)
    {
        var stopping = CancellationToken.None;
        try
        {
            var app = build();
            stopping = app.Lifetime.ApplicationStopping;
            await using (app)
            {
                using var failing = app.Services.GetRequiredService<Supervisor>().Failing.Register(EndInTime);
                await app.RunAsync();
                return Environment.ExitCode;
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // Told to stop before it had started.
            return Environment.ExitCode;
        }
        catch (OptionsValidationException e)
        {
            return await ReportAsync(string.Join(Environment.NewLine, e.Failures), BadSettings);
        }
        catch (StartupException e)
        {
            return await ReportAsync(e.Message, Failed);
        }
        catch (IOException e) when (e.InnerException is AddressInUseException)
        {
            return await ReportAsync("Urls: " + e.Message, Failed);
        }
        catch (Exception e) when (e is FormatException or InvalidOperationException && e.Source is { } source && source.StartsWith("Microsoft.Extensions.Configuration", StringComparison.Ordinal))
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

    // What failed may be just what the stop waits for. A background thread, so that an end in good order is not held up.
    private static void EndInTime() => new Thread(() =>
    {
        using var never = new ManualResetEventSlim();
        never.Wait(FailingBound);
        Console.Error.WriteLine($"It did not stop within {FailingBound.TotalSeconds:0} s after a failure and is killed.");
        Process.GetCurrentProcess().Kill();
    })
    { IsBackground = true }.Start();

    private static async Task<int> ReportAsync(string message, int exitCode)
    {
        await Console.Error.WriteLineAsync(message);
        return exitCode;
    }
}
