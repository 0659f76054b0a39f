using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Billing.ContractTests.MartenApi;
using Npgsql;

[assembly: AssemblyFixture(typeof(PostgresFixture))]

namespace Billing.ContractTests.MartenApi;

/// <summary>
/// The server named by BILLING_TEST_POSTGRES, or else a cluster of the tests' own that is deleted when they are done.
/// </summary>
public sealed class PostgresFixture : IAsyncLifetime
{
    private const string Variable = "BILLING_TEST_POSTGRES";

    private string? _folder;
    private string? _programs;

    public string ConnectionString { get; private set; } = "";

    public async ValueTask InitializeAsync()
    {
        if (Environment.GetEnvironmentVariable(Variable) is { Length: > 0 } given)
        {
            ConnectionString = given;
            return;
        }

        _programs = Directory.GetDirectories("/usr/lib/postgresql")
            .Select(version => Path.Combine(version, "bin"))
            .Where(folder => File.Exists(Path.Combine(folder, "initdb")))
            .MaxBy(folder => int.Parse(Directory.GetParent(folder)!.Name, CultureInfo.InvariantCulture))
            ?? throw new InvalidOperationException($"Set {Variable}, or install PostgreSQL");
        _folder = Directory.CreateTempSubdirectory("billing-pg-").FullName;
        if (Environment.IsPrivilegedProcess)
        {
            await RunAsync("chown", "postgres:", _folder);
        }

        var data = Path.Combine(_folder, "data");
        await RunAsServerUserAsync("initdb", "-D", data, "-A", "trust", "-U", "billing", "-E", "UTF8", "--no-sync");
        ConnectionString = await StartAsync(data);
    }

    public async ValueTask DisposeAsync()
    {
        if (_folder is null)
        {
            return;
        }

        NpgsqlConnection.ClearAllPools();
        await RunAsServerUserAsync("pg_ctl", "-D", Path.Combine(_folder, "data"), "-m", "immediate", "-w", "stop");
        Directory.Delete(_folder, true);
    }

    private async Task<string> StartAsync(string data)
    {
        // Another program may take the port after it was found free and before the server starts.
        for (var attempt = 1; ; attempt++)
        {
            var port = FreePort();
            try
            {
                await RunAsServerUserAsync(
                    "pg_ctl",
                    "-D",
                    data,
                    "-l",
                    Path.Combine(_folder!, "log"),
                    "-o",
                    $"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={_folder} "
                        + "-c max_connections=200",
                    "-w",
                    "start");
                return $"Host=127.0.0.1;Port={port};Username=billing;Database=postgres";
            }
            catch (InvalidOperationException) when (attempt < 5)
            {
            }
        }
    }

    private static int FreePort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }

    private Task RunAsServerUserAsync(string program, params string[] arguments)
    {
        var path = Path.Combine(_programs!, program);

        // The server refuses to run as root.
        return Environment.IsPrivilegedProcess
            ? RunAsync("setpriv", ["--reuid=postgres", "--regid=postgres", "--clear-groups", path, .. arguments])
            : RunAsync(path, arguments);
    }

    private async Task RunAsync(string program, params string[] arguments)
    {
        // The server inherits the streams of pg_ctl; reading them to their end would wait until the server stops.
        var start = new ProcessStartInfo("/bin/sh") { WorkingDirectory = _folder };
        string[] shell = ["-c", "exec \"$@\" >/dev/null 2>&1 </dev/null", "sh", program];
        foreach (var argument in shell.Concat(arguments))
        {
            start.ArgumentList.Add(argument);
        }

        using var process = Process.Start(start)!;
        await process.WaitForExitAsync();
        if (process.ExitCode != 0)
        {
            throw new InvalidOperationException(
                $"{program} {string.Join(' ', arguments)} exited with code {process.ExitCode}");
        }
    }
}
