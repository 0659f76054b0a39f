using System.Diagnostics;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace Billing.IntegrationTests.Live;

/// <summary>Debian's Chromium in headless mode, driven by playwright-core in a Node.js process.</summary>
public sealed class Browser : IAsyncLifetime
{
    private static readonly string Folder = Path.Combine(Repository.Root, "tests/Billing.IntegrationTests/browser");

    private readonly string? _chromium = Find("chromium");
    private readonly string? _node = Find("node");
    private Process? _driver;

    /// <summary>The reason why no browser is available; null if one is.</summary>
    public string? Missing =>
        _chromium is null ? "there is no chromium: ./billing test --install installs it on Debian"
        : _node is null ? "there is no node: ./billing test --install installs it on Debian"
        : !File.Exists(Path.Combine(Folder, "node_modules/playwright-core/package.json"))
            || !File.Exists(Path.Combine(Folder, "node_modules/axe-core/package.json"))
            ? "playwright-core is not installed: npm ci --prefix tests/Billing.IntegrationTests/browser"
        : null;

    public ValueTask InitializeAsync()
    {
        if (Missing is null)
        {
            var start = new ProcessStartInfo(_node!, ["driver.mjs", _chromium!])
            {
                WorkingDirectory = Folder,
                RedirectStandardInput = true,
                RedirectStandardOutput = true,
            };
            _driver = Process.Start(start);
        }
        return ValueTask.CompletedTask;
    }

    public async ValueTask DisposeAsync()
    {
        if (_driver is not null)
        {
            _driver.StandardInput.Close();
            using var patience = new CancellationTokenSource(Patience, TimeProvider.System);
            await _driver.WaitForExitAsync(patience.Token);
            _driver.Dispose();
        }
    }

    /// <summary>Sends a command to the driver and returns its result.</summary>
    /// <exception cref="InvalidOperationException">The command failed, or the driver has ended.</exception>
    public async Task<JsonNode?> DoAsync(string name, string page, object? parameters = null)
    {
        var command = JsonSerializer.SerializeToNode(parameters ?? new { }, JsonSerializerOptions.Web)!.AsObject();
        command["do"] = name;
        command["page"] = page;
        using var patience = new CancellationTokenSource(Patience, TimeProvider.System);
        await _driver!.StandardInput.WriteLineAsync(command.ToJsonString().AsMemory(), patience.Token);
        await _driver.StandardInput.FlushAsync(patience.Token);
        var line = await _driver.StandardOutput.ReadLineAsync(patience.Token)
            ?? throw new InvalidOperationException("The browser driver has ended.");
        var answer = JsonNode.Parse(line)!;
        return answer["error"] is { } error ? throw new InvalidOperationException($"{name}: {error}") : answer["value"];
    }

    private static string? Find(string program) => (Environment.GetEnvironmentVariable("PATH") ?? "").Split(':')
        .Select(folder => Path.Combine(folder, program)).FirstOrDefault(File.Exists);
}
