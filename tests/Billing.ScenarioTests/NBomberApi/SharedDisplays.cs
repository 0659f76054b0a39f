using System.Runtime.CompilerServices;
using Spectre.Console;

namespace Billing.ScenarioTests.NBomberApi;

/// <summary>Lets two progress displays run at once. NBomber, where too many failures end a run, cleans up while it already cleans
/// up, each time with a display of its own, and Spectre.Console refuses the second: now and then, whichever is quicker.</summary>
internal sealed class SharedDisplays : IExclusivityMode
{
    public T Run<T>(Func<T> func) => func();

    public Task<T> RunAsync<T>(Func<Task<T>> func) => func();

    [ModuleInitializer]
    internal static void Use() =>
        AnsiConsole.Console = AnsiConsole.Create(new AnsiConsoleSettings { ExclusivityMode = new SharedDisplays() });
}
